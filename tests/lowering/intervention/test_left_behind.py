"""`numerics` compares all that a call leaves behind: results, changed inputs, strides, and who shares whose memory."""

from pathlib import Path
from typing import Final

import pytest
import torch

from inspect_compile.analysis.numerics.verdicts import Judged, judged, summary
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import BEFORE_PASSES, CALL, COMPILED, PARTITIONER, between
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WRONG
from tests.private_names import version
from tests.running import COMMAND, run

PROGRAM: Final = Path(__file__).parent / "programs" / "left_changed.py"
FUNCTIONS: Final = ("pushed", "in_order", "scattered", "views", "not_written", "transposed", "trained", "reshaped")
IS_OLD: Final = version(torch.__version__) < (2, 15)
"""Later releases compile `pushed` and `transposed` right."""
WRONG_THERE: Final = {
    **({"pushed": {("remove_noop_ops", "arg1_1")}} if IS_OLD else {}),
    "scattered": {("reinplace_inplaceable_ops", "result 0")},
    "not_written": {("post_grad_custom_post_pass", "arg1_1")},
    "trained": {("joint_custom_post_pass", "primals_1")},
}
"""Function → level and what it makes wrong; the others are right."""
OTHER_STRIDES: Final = {"transposed": {(between(BEFORE_PASSES, COMPILED), "result 0")}} if IS_OLD else {}
"""Function → level and what it gives other strides."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> tuple[str, Dump]:
    """What the program printed, and the dump."""
    where = tmp_path_factory.mktemp("left")
    done = run(
        [*COMMAND, "numerics", "--eager", "--dump", "dump", PROGRAM],
        where,
        environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)},
    )
    return done.stdout, Dump(where / "dump")


def of_function(dump: Dump, at: int) -> list[Judged]:
    """The rows of the graphs of one function."""
    return [row for row in judged(Graphs(dump)) if row.graph.startswith(f"model__{at}_")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_a_call_leaves_behind_is_compared_at_each_level(found: tuple[str, Dump], name: str) -> None:
    said, dump = found
    rows = of_function(dump, FUNCTIONS.index(name))
    wrong = [row for row in rows if row.verdict == WRONG]

    assert {(row.level, row.measured.buffer) for row in wrong if row.level != CALL} == WRONG_THERE.get(name, set())
    assert all(row.verdict != NOT_COMPARABLE for row in rows)
    restrided = {(row.level, row.measured.buffer) for row in rows if row.measured.other_strides and row.level != CALL}
    assert restrided == OTHER_STRIDES.get(name, set())
    assert f"{name} {name not in {**WRONG_THERE, **OTHER_STRIDES}}" in said
    assert any(row.level == CALL for row in wrong) == (name in WRONG_THERE)


def test_a_function_that_keeps_what_it_makes_is_no_reference(found: tuple[str, Dump]) -> None:
    _, dump = found

    assert {row.verdict for row in of_function(dump, len(FUNCTIONS))} == {EXACT}
    (trouble,) = summary(Graphs(dump)).trouble
    assert "it keeps tensors for its next call" in trouble.reason


SAVED: Final = """
import torch

def step(x, mean):
    y = x * mean.sin()
    mean.lerp_(y.detach().mean(0), 0.5)
    return (y - mean).cos()

def slope(function):
    torch.manual_seed(0)
    x, mean = torch.randn(4, 8, requires_grad=True), torch.ones(8)
    function(x, mean).sum().backward()
    return x.grad

print(torch.allclose(slope(torch.compile(step)), slope(step)))
"""
"""Torch 2.13 saves the mean for the backward, and gets what the forward has made of it."""


def test_a_saved_value_that_the_forward_changes_is_the_partitioner_s(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "program.py").write_text(SAVED)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", "program.py"], tmp_path, environment=environment)

    is_wrong = done.stdout == "False\n"
    assert done.returncode == is_wrong, done.stderr
    wrong = {row.level for row in judged(Graphs(Dump(tmp_path / "dump"))) if row.verdict == WRONG}
    assert wrong == ({PARTITIONER} if is_wrong else set())
