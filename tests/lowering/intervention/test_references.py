"""A reference accuses once it has reproduced the program; higher-order operators and nested graphs are compared."""

from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.coverage import uncompared
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import BEFORE_PASSES, CALL, DYNAMO, DYNAMO_GRAPH, FUNCTION, JOINT_GRAPH
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG
from tests.private_names import version
from tests.running import COMMAND, run

PROGRAM = Path(__file__).parent / "programs" / "references.py"
IS_OLD = version(torch.__version__) < (2, 15)
"""Later releases keep the copies that these need, and the backward of a function of the program's own."""
REINPLACES = "reinplace_inplaceable_ops"


def checked(words: str, where: Path, cache: Path) -> dict[str, list[Judged]]:
    """Compiled function, in the order of `words` → what was found of it. Words with dashes before it are options."""
    names = [word for word in words.split() if not word.startswith("--")]
    options = [word for word in words.split() if word == "--eager"]
    rest = [word for word in words.split() if word not in options]
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache)}
    where.mkdir(exist_ok=True)
    done = run([*COMMAND, "numerics", *options, "--dump", "dump", PROGRAM, *rest], where, environment=environment)
    assert done.stdout.split() == names, done.stderr
    graphs: dict[str, list[Judged]] = {}
    for row in judged(Graphs(Dump(where / "dump"))):
        graphs.setdefault(row.graph.partition("/")[0], []).append(row)
    return dict(zip(names, graphs.values(), strict=True))


def test_what_is_right_is_called_right(tmp_path: Path, inductor_cache: Path) -> None:
    """Dynamo's graph runs again as it was traced: transforms of torch.func need autograd, others look at whether
    gradients are asked for. What custom operators change is not what they return.
    """
    words = "gradient product operators filled scanned trained bumped number mapped"
    for name, rows in checked(words, tmp_path, inductor_cache).items():
        assert [(row.buffer, row.verdict, row.reason) for row in rows if row.verdict in (WRONG, NOT_COMPARABLE)] == []
        assert {row.measured.against for row in rows} >= {DYNAMO_GRAPH}, name


def test_a_pass_is_named_that_is_wrong_inside_of_nested_graphs(tmp_path: Path, inductor_cache: Path) -> None:
    for name, rows in checked("scanned repeated --wrong", tmp_path, inductor_cache).items():
        found = {(row.level, row.measured.against) for row in rows if row.verdict == WRONG}
        assert found == {("post_grad_custom_pre_pass", BEFORE_PASSES)}, name


@pytest.mark.skipif(not IS_OLD, reason="torch keeps the copy")
def test_a_custom_operator_whose_argument_lost_its_copy(tmp_path: Path, inductor_cache: Path) -> None:
    """torch takes the copy out: the level is named at which the operator is still called on copies."""
    (rows,) = checked("rolled", tmp_path, inductor_cache).values()
    assert {(row.level, row.buffer) for row in rows if row.verdict == WRONG} == {
        ("reinplace_inplaceable_ops", "result 0"),
        ("reinplace_inplaceable_ops", "arg0_1"),
    }


def test_the_program_itself_has_a_veto(tmp_path: Path, inductor_cache: Path) -> None:
    (rows,) = checked("--eager turned", tmp_path, inductor_cache).values()
    assert [row.level for row in rows if row.verdict == WRONG] == []
    (beside,) = [row.reason for row in rows if row.measured.against == DYNAMO_GRAPH]
    assert beside.startswith("the reference is not valid for result 0: the program's function gives what")
    assert [row.verdict for row in rows if row.level == CALL] == ["exact"]


def test_a_backward_of_the_programs_own_that_dynamo_leaves_out(tmp_path: Path, inductor_cache: Path) -> None:
    """Its graph is run as it is, so that without the program's function nothing shows what is left out."""
    checked("clipped pushed mapped", tmp_path, inductor_cache)
    found = {one.graph: one for one in uncompared(Graphs(Dump(tmp_path / "dump")))}
    beside = checked("--eager clipped pushed mapped", tmp_path / "eager", inductor_cache)

    assert [one.step for one in found.values()] == ([FUNCTION, FUNCTION] if IS_OLD else [FUNCTION])
    assert all("Dynamo captured the forward of Clipped" in one.reason for one in found.values())
    levels = {name: {row.level for row in rows if row.verdict == WRONG} for name, rows in beside.items()}
    assert levels == {"clipped": {DYNAMO} if IS_OLD else set(), "pushed": {DYNAMO}, "mapped": set()}


def test_what_aten_refuses_to_run_and_a_jump_of_given_values(tmp_path: Path, inductor_cache: Path) -> None:
    """A pass leaves a copy within one memory, which ATen does not make: it is not compared with that. And where nothing
    was rounded before a value is cut off, rounding explains no other whole number.
    """
    found = checked("shifted floored", tmp_path, inductor_cache)

    assert {row.level for row in found["shifted"] if row.verdict == WRONG} <= {"remove_noop_ops", REINPLACES}
    assert {row.buffer for row in found["shifted"] if row.verdict == WRONG} >= ({"arg0_1"} if IS_OLD else set())
    assert {row.kernel for row in found["floored"] if row.verdict == WRONG} == {"cpp_fused_floor_divide_0"}


def test_a_backward_without_operations(tmp_path: Path, inductor_cache: Path) -> None:
    """torch calls such a graph as it is; its gradients are compared all the same."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAM, "added"], tmp_path, environment=environment)

    rows = [row for row in judged(Graphs(Dump(tmp_path / "dump"))) if "backward" in row.graph]
    assert done.returncode == 0, done.stderr
    assert [(row.measured.against, row.verdict) for row in rows] == [(DYNAMO_GRAPH, EXACT), (JOINT_GRAPH, EXACT)]
