"""`numerics`: the launch that is wrong is named and no other, and the program runs as without the check."""

import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.verdicts import judged, summary
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, inspected, plain, run

PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = Path(__file__).resolve().parents[3] / "samples"
ON_A_CPU = (
    "attention_block",
    "conditional",
    "conv_bias",
    "dynamic_shapes",
    "flex_attention",
    "graph_breaks",
    "softmax_mlp",
    "training_step",
    "two_models",
)


@pytest.mark.harmless
@pytest.mark.parametrize("sample", ON_A_CPU)
def test_no_sample_is_accused(sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", SAMPLES / f"{sample}.py"], tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    found = summary(Graphs(Dump(tmp_path / "dump")))
    assert found.wrong == 0
    assert found.compared > 0
    assert found.trouble == ()


def test_forms_of_memory(tmp_path: Path, inductor_cache: Path) -> None:
    """Dropout, in-place changes, views, several outputs, a scatter, dynamic sizes, half precision, integers."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    alone = plain([PROGRAMS / "forms.py"], tmp_path, environment=environment)

    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "forms.py"], tmp_path, environment=environment)

    assert done.returncode == 3, done.stderr  # the random numbers of a dropout can't be compared between levels
    assert "compared at no level: result 0 of model__8_forward" in done.stderr
    assert done.stdout == alone.stdout
    recorded = inspected([PROGRAMS / "forms.py"], tmp_path, options=("--dump", "plain"), environment=environment)
    assert recorded.stdout == alone.stdout
    assert codes(tmp_path / "dump") == codes(tmp_path / "plain")
    found = summary(Graphs(Dump(tmp_path / "dump")))
    assert found.trouble == ()
    assert found.compared >= 0.9 * found.results
    rows = list(judged(Graphs(Dump(tmp_path / "dump"))))
    assert {row.reason.rpartition(" ")[0] for row in rows if row.reason and not row.level} <= {
        "a step of the lowering of"
    }
    assert {row.verdict for row in rows if row.level} >= {"exact", "not comparable"}  # dropout draws its numbers anew


def test_results_that_differ_each_time_are_named(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    options = ("--deterministic", "--calls", "2-3", "--dump", "dump")
    words: list[str | Path] = [*COMMAND, "numerics", *options, PROGRAMS / "unsteady.py"]

    done = run(words, tmp_path, environment=environment)

    assert done.returncode == 1, done.stderr
    dump = Dump(tmp_path / "dump")
    found = summary(Graphs(dump))
    unsteady, steady = sorted(graph.graph for graph in dump.outermost())
    assert found.wrong == 0
    assert found.repeated
    assert {row.graph for row in judged(Graphs(dump)) if row.measured.unstable} == {unsteady}
    assert {row.node for row in judged(Graphs(dump, unsteady)) if row.measured.unstable} == {"scale"}
    assert 1 <= found.unstable_results <= 2  # two threads may add in the same order twice
    assert "not deterministic" in done.stderr
    kernel = next(row.kernel for row in judged(Graphs(dump, unsteady)) if row.node == "scale")
    page = " ".join(run([*COMMAND, "show", "dump", "kernel", kernel], tmp_path).stdout.split())
    assert "not the same when it runs again" in page
    assert {row.call for row in judged(Graphs(dump))} == {2, 3}
    assert list(judged(Graphs(dump, steady)))


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        (("--calls", "1,3"), {"unsteady": {1, 3}, "steady": {1, 3}}),
        (("--every", "2"), {"unsteady": {1, 3}, "steady": {1, 3}}),
        (("--every", "3", "--calls", "2"), {"unsteady": {1, 2}, "steady": {1, 2}}),
        (("--calls", "all", "--graph", "model__1"), {"unsteady": set(), "steady": {1, 2, 3}}),
    ],
)
def test_which_calls_are_checked(
    options: tuple[str, ...], calls: dict[str, set[int]], tmp_path: Path, inductor_cache: Path
) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    words: list[str | Path] = [*COMMAND, "numerics", *options, "--dump", "dump", PROGRAMS / "unsteady.py"]

    run(words, tmp_path, environment=environment)

    dump = Dump(tmp_path / "dump")
    unsteady, steady = sorted(graph.graph for graph in dump.outermost())
    found = {"unsteady": unsteady, "steady": steady}
    assert {name: {row.call for row in judged(Graphs(dump, graph))} for name, graph in found.items()} == calls


@pytest.mark.parametrize("calls", ["0", "3-2", "x", "1,,2", "-1"])
def test_calls_that_say_nothing_are_refused(calls: str, tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", f"--calls={calls}", "nothing.py"], tmp_path)

    assert done.returncode == 2
    assert "write 1, 5,100-110 or all" in done.stderr


@pytest.mark.parametrize(
    ("fault", "blamed", "kind"),
    [
        ("wrong_constant", "post_grad_custom_post_pass", "inference"),
        ("wrong_constant", "post_grad_custom_post_pass", "training"),
        ("no_relu", "post_grad_custom_pre_pass", "inference"),
        ("no_relu", "post_grad_custom_pre_pass", "training"),
        ("no_relu_in_joint", "joint_custom_post_pass", "inference"),
        ("no_relu_in_joint", "joint_custom_post_pass", "training"),
        ("nothing", None, "inference"),
        ("nothing", None, "training"),
    ],
)
def test_a_pass_that_changes_the_result_is_named(
    fault: str, blamed: str | None, kind: str, tmp_path: Path, inductor_cache: Path
) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    more = ["train"] if kind == "training" else []
    words: list[str | Path] = [*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "bad_pass.py", fault, *more]

    done = run(words, tmp_path, environment=environment)

    assert (done.returncode, done.stdout.strip()) == ((0, "False") if blamed is None else (1, "True")), done.stderr
    dump = Dump(tmp_path / "dump")
    assert {row.level for row in judged(Graphs(dump)) if row.verdict == WRONG} == ({blamed} if blamed else set())
    assert {row.measured.against for row in judged(Graphs(dump))} >= {"the graph before the passes", "Dynamo's graph"}
    if blamed:
        assert f"first wrong: pass {blamed}" in done.stderr


def codes(dump: Path) -> dict[str, str]:
    """The code of each graph."""
    return {path.parent.name: path.read_text("utf-8") for path in sorted(dump.rglob("output_code.py"))}


def test_a_program_that_compiles_nothing_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "nothing.py").write_text("print('hello')")

    done = run([*COMMAND, "numerics", "--dump", "dump", "nothing.py"], tmp_path)

    assert (done.returncode, done.stdout) == (3, "hello\n")
    assert "compared at no level: nothing was compiled" in done.stderr


def test_the_exit_status_of_the_program_is_told(tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", "--dump", "dump", "--", sys.executable, "-c", "raise SystemExit(7)"], tmp_path)

    assert done.returncode == 3
    assert "the program itself ended with status 7" in done.stderr
