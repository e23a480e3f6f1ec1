"""`numerics` names the level above the kernels at which a result went wrong, and accuses none that is right."""

from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.verdicts import judged, summary
from inspect_compile.commands.numerics import NOT_COMPARED
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import CALL, COMPILED, DYNAMO, FUNCTION
from inspect_compile.knowledge.numerics.verdicts import EXACT, WORSE, WRONG
from inspect_compile.tables.numerics.story import result_story
from tests.running import COMMAND, plain, run

PROGRAMS = Path(__file__).parent / "programs"
AOT = "AOTAutograd and decompositions"
SILU = "torch.nn.functional.silu"
TANH = "aten.tanh.default"
LINES = {
    SILU: "h = F.silu(h)",
    TANH: "h = self.norm(torch.tanh(self.up(x)))",
    "operator.mul": "h = torch.exp(-(h * 3).square()).sin()",
}
"""Operator → its line."""


def checked(program: str, words: str, where: Path, cache: Path) -> tuple[int, str, str, Dump]:
    """Exit status, output and what was found of `numerics`; words with dashes are its options."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
    options = [word for word in words.split() if word.startswith("--")]
    rest = [word for word in words.split() if not word.startswith("--")]
    done = run(
        [*COMMAND, "numerics", *options, "--dump", "dump", PROGRAMS / program, *rest], where, environment=environment
    )
    return done.returncode, done.stdout, done.stderr, Dump(where / "dump")


@pytest.mark.parametrize(
    ("words", "level", "operator"),
    [
        ("wrong_decomposition", AOT, SILU),
        ("wrong_decomposition train", AOT, SILU),
        ("wrong_backward_decomposition train", AOT, f"the gradient of {SILU}"),
        ("wrong_pre_grad_pass", "pre_grad_custom_pass", "operator.mul"),
        ("wrong_backend", "the backend before Inductor", "operator.mul"),
        ("wrong_joint_pass", "joint_custom_post_pass", TANH),
        ("wrong_joint_pass train", "joint_custom_post_pass", TANH),
        ("wrong_partition train", "the partitioner", ""),
        ("wrong_capture --eager", "Dynamo", ""),
    ],
)
def test_the_level_with_the_mistake_is_named(
    words: str, level: str, operator: str, tmp_path: Path, inductor_cache: Path
) -> None:
    status, said, told, dump = checked("bad_level.py", words, tmp_path, inductor_cache)

    assert (status, said.strip()) == (1, "True"), told
    wrong = [row for row in judged(Graphs(dump)) if row.verdict == WRONG]
    assert {row.level for row in wrong} == {level}
    assert wrong[0].measured.operator == operator
    assert f"{level} make" in told
    if operator:
        assert wrong[0].where is not None
        assert wrong[0].where.code == LINES[operator.removeprefix("the gradient of ")]


@pytest.mark.parametrize("words", ["nothing --eager", "nothing train --eager", "harmless_decomposition train"])
def test_what_is_right_is_not_accused(words: str, tmp_path: Path, inductor_cache: Path) -> None:
    status, said, told, dump = checked("bad_level.py", words, tmp_path, inductor_cache)

    assert (status, said.strip()) == (0, "False"), told
    found = summary(Graphs(dump))
    assert found.trouble == ()
    assert all(compared == results for compared, results in found.graph_results.values())
    assert ("Dynamo's graph" in found.graph_results, "the joint graph" in found.graph_results) == (
        True,
        "train" in words,
    )
    assert ("the program's function" in found.graph_results) == ("--eager" in words)


@pytest.mark.parametrize("words", ["mended_decomposition", "mended_decomposition train"])
def test_what_a_later_pass_takes_away_is_not_wrong(words: str, tmp_path: Path, inductor_cache: Path) -> None:
    status, said, told, dump = checked("bad_level.py", words, tmp_path, inductor_cache)

    assert (status, said.strip()) == (0, "False"), told
    mended = [row for row in judged(Graphs(dump)) if row.measured.is_mended]
    assert {(row.level, row.verdict) for row in mended} == {(AOT, WORSE)}
    assert any("took the error away" in line for line in result_story(mended[0]))
    shown = run([*COMMAND, "show", "dump", "numerics"], tmp_path, environment={"COLUMNS": "300"}).stdout
    assert shown.count("the compiled code's result is right") == len(mended)


def test_a_kernel_that_takes_away_what_a_pass_did_is_not_wrong(tmp_path: Path, inductor_cache: Path) -> None:
    status, said, told, dump = checked("other_layout.py", "", tmp_path, inductor_cache)

    assert (status, said.strip()) == (0, "True"), told
    mended = [row for row in judged(Graphs(dump)) if row.measured.is_mended]
    levels = ["post_grad_custom_pre_pass", "", COMPILED]
    assert [(row.level, row.verdict) for row in mended] == [(level, WORSE) for level in levels]


@pytest.mark.parametrize(("words", "status"), [("", 1), ("right", 0)])
def test_an_element_on_an_edge_excuses_no_other(words: str, status: int, tmp_path: Path, inductor_cache: Path) -> None:
    ended, _, told, dump = checked("edge.py", words, tmp_path, inductor_cache)

    assert ended == status, told
    (row,) = (row for row in judged(Graphs(dump)) if row.level == AOT)
    assert (row.verdict == WRONG) == bool(status)
    if status:
        assert row.measured.noise_worst is not None
        assert row.measured.noise_worst > 0.5  # noise moves the element on the edge by much more than the mistake does
        assert row.measured.unexplained > 1


def test_python_values_are_compared_unless_they_come_from_a_tensor(tmp_path: Path, inductor_cache: Path) -> None:
    status, _, told, dump = checked("python_values.py", "--eager", tmp_path, inductor_cache)

    assert status == 1, told
    rows = [row for row in judged(Graphs(dump)) if row.measured.against == FUNCTION]
    found = [(row.level, row.measured.buffer, row.verdict, row.measured.mismatch) for row in rows]
    assert found == [
        (CALL, "result[0]", EXACT, ""),
        (DYNAMO, "result[1]", WRONG, "True, not False"),
        (CALL, "result[2]", EXACT, ""),
        (CALL, "result[3]", EXACT, ""),
        (CALL, "result[0]", EXACT, ""),
    ]


def test_calling_the_function_too_changes_no_tensor(tmp_path: Path, inductor_cache: Path) -> None:
    """Buffers, arguments, gradients, counts of changes and random numbers are what they are without."""
    status, said, told, dump = checked("twice.py", "--eager --calls=all", tmp_path, inductor_cache)
    alone = plain([PROGRAMS / "twice.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})

    assert status == NOT_COMPARED, told  # one function is not: see below
    assert said == alone.stdout
    found = summary(Graphs(dump))
    assert found.graph_results["the program's function"][0] > 0
    (trouble,) = found.trouble
    assert "it changes a tensor in place that depends on others with gradients" in trouble.reason
