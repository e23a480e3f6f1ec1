"""What another setting did to a pair, and to the others, read from two compiles."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.what_if import Tried, tried
from inspect_compile.analysis.lookup.pairs import Pair
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, Run
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.compare.what_if import what_if
from tests.handmade import GRAPH, ended, graph, kernel, made, operation

Names = dict[str, tuple[str, ...]]


def _compiled(groups: list[str], names: Names) -> list[Fact]:
    """A graph whose operations have these FX nodes, and these scheduler nodes after fusion, each in a kernel."""
    before = [
        operation(name, reads={"arg0": 64}, writes={name.replace("op", "buf"): 8}, phase="pre_fusion", nodes=nodes)
        for name, nodes in names.items()
    ]
    after = [operation(name, reads={"arg0": 64}, writes={f"buf_{name}": 8}) for name in groups]
    return [graph(), *before, *after, *(kernel(f"kernel_{name}", name) for name in groups), ended()]


FOUR: Names = {"op0": ("sin",), "op1": ("cos",), "op2": ("exp",), "op3": ("tan",)}


def _tried(root: Path, now: list[str], then: list[str], pair: Pair, names: Names = FOUR) -> Tried:
    dump = made(root, *_compiled(now, FOUR))
    run = Run(status="finished", replay_of=GRAPH, config={"knob": "1"}, device="cpu")
    again = made(root / "replay_1", *_compiled(then, names), run=run)
    return tried(Dump(dump.root), Dump(again.root), pair, "max_fusion_size", 256, 1)


def _text(found: Tried) -> str:
    return "\n".join(line.rstrip() for line in plain_text(what_if(found, "dump"), 120).splitlines()) + "\n"


def test_a_pair_that_comes_together_and_what_else_changes(tmp_path: Path) -> None:
    found = _tried(
        tmp_path / "dump", ["op0", "op1", "op2_op3"], ["op0_op1", "op2", "op3"], Pair(GRAPH, ("op0",), ("op1",))
    )

    assert (found.fused, found.fused_before, found.one_kernel) == (True, False, True)
    assert (found.groups_a, found.groups_b, found.kernels) == (("op0_op1",), ("op0_op1",), ("kernel_op0_op1",))
    assert found.came_together == ()
    assert found.came_apart == (("op2", "op3"),)
    assert found.before is not None
    assert found.after is not None
    assert (found.before.groups, found.after.groups, found.before.read_bytes, found.after.read_bytes) == (
        3,
        3,
        192,
        192,
    )
    assert _text(found).splitlines() == [
        "max_fusion_size=256  fuses op0 and op1, in kernel_op0_op1",
        "  whole graph  3 kernels, 3 groups, reads 192 B, writes 32 B",
        "  also apart   op2 × op3",
        "  set it  torch._inductor.config.max_fusion_size=256   allows groups of more operations",
        "  inspect-compile show dump --replay 1 fusion",
    ]


def test_a_pair_that_stays_apart(tmp_path: Path) -> None:
    found = _tried(
        tmp_path / "dump", ["op0", "op1", "op2", "op3"], ["op0", "op1", "op2_op3"], Pair(GRAPH, ("op0",), ("op1",))
    )

    assert (found.fused, found.one_kernel, found.came_together) == (False, False, (("op2", "op3"),))
    text = _text(found)
    assert text.startswith("max_fusion_size=256  does not fuse op0 and op1\n")
    assert "kernels 4 → 3, groups 4 → 3, reads 192 B (64 B less)" in text
    assert "also fused   op2 × op3" in text
    assert "set it" not in text


def test_two_operations_that_are_one_then(tmp_path: Path) -> None:
    names: Names = {"op0": ("sin", "cos"), "op1": ("exp",), "op2": ("tan",)}
    found = _tried(
        tmp_path / "dump", ["op0", "op1", "op2", "op3"], ["op0", "op1", "op2"], Pair(GRAPH, ("op0",), ("op1",)), names
    )

    assert found.fused
    assert found.groups_a == found.groups_b == ("op0",)


@pytest.mark.parametrize("failure", ["the compile failed"])
def test_what_was_not_tried_is_told(failure: str) -> None:
    text = _text(Tried(graph=GRAPH, knob="no_such", value="1", a=("op0",), b=("op1",), failure=failure))

    assert text == "no_such=1  was not tried: the compile failed\n"
