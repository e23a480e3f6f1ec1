"""What a GPU compiles reaches the target, under the GPU's names."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Kernel, Node, Remark
from tests.running import inspected

pytestmark = pytest.mark.targets

PROGRAM = Path(__file__).parent / "programs" / "nothing_lost.py"


def _compiled(tmp_path: Path, *what: str) -> Dump:
    done = inspected([PROGRAM, *what], tmp_path, options=["--target", "sm_90"])
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert not [row.message for row in dump.rows(Remark) if row.code == "target-failed"]
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    return dump


def test_a_checkpoint_around_attention_and_dropout(tmp_path: Path) -> None:
    """The partitioner asks for the states of the GPU's generator: both directions draw with one each."""
    dump = _compiled(tmp_path, "checkpoint")

    again = {row.graph for row in dump.rows(Kernel) if "graphsafe_run_with_rng_state" in row.name}
    assert {graph.kind for graph in dump.outermost() if graph.graph in again} == {"forward", "backward"}


@pytest.mark.parametrize(
    ("what", "products"), [(("selective", "saved"), 3), (("selective",), 5)], ids=["saved", "none"]
)
def test_selective_checkpointing_saves_what_the_program_says(
    tmp_path: Path, what: tuple[str, ...], products: int
) -> None:
    """Without the products of the forward, both are computed again for the three of the backward."""
    dump = _compiled(tmp_path, *what)

    (backward,) = [graph.graph for graph in dump.outermost() if graph.kind == "backward"]
    traced = [node.target for node in dump.rows(Node, graph=backward) if node.stage == "aot"]
    called = [target for target in traced if target in ("aten.mm.default", "aten.addmm.default")]
    assert len(called) == products


def test_an_optimizer_of_all_parameters_at_once(tmp_path: Path) -> None:
    dump = _compiled(tmp_path, "optimizer")

    assert [row.name for row in dump.rows(Kernel) if "for_fused" in row.name]


def test_a_norm_is_named_as_on_a_gpu(tmp_path: Path) -> None:
    dump = _compiled(tmp_path, "norm")

    named = [row.name for row in dump.rows(Kernel)]
    assert any("_fused__fused_rms_norm_" in name and "backward" not in name for name in named), named
    assert any("_fused_rms_norm_backward" in name for name in named), named
