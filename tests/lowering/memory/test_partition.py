"""What the partitioner keeps and has computed again, and why: held against the graphs that it made."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from inspect_compile.analysis.memory.saved import why
from inspect_compile.dump import Dump
from inspect_compile.facts import Hook, JointNode, MemoryPlan, Node, Partition, Saved
from tests.conftest import DumpOf, run_once
from tests.private_names import astray
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "partitions.py"
WAYS = ("plain", "dynamic", "checkpoint", "selective", "half", "nothing", "aggressive", "default", "custom")


class Way(NamedTuple):
    """One of the program's joint graphs."""

    partition: Partition
    rows: list[Saved]
    marks: dict[str, str]
    """Node → what the program says of it."""
    seen: dict[str, Any]
    """What the cut graphs show."""

    def named(self, decision: str) -> list[str]:
        """The nodes of which this was decided."""
        return [row.node for row in self.rows if row.decision == decision]

    def reasons(self) -> dict[str, str]:
        """Node → the code of what decided."""
        return {row.node: why(row, self.partition, self.marks.get(row.node, "")) for row in self.rows}


@pytest.fixture(scope="module")
def ways(shared_folder: Path) -> dict[str, Way]:
    """The program, recorded once a session."""
    folder = shared_folder / "recorded" / "partitions"
    done = run_once(folder, lambda folder: inspected([PROGRAM, folder / "found.json"], folder))
    assert done.returncode == 0, done.stderr
    dump = Dump(folder / "dump")
    assert astray(dump.rows(Hook)) == {}
    found: dict[str, Way] = {}
    for name, seen in json.loads((folder / "found.json").read_text()).items():
        (partition,) = dump.rows_of_compile(Partition, seen["graph"])
        marks = {row.name: row.policy for row in dump.rows_of_compile(JointNode, seen["graph"])}
        found[name] = Way(partition, dump.rows_of_compile(Saved, seen["graph"]), marks, seen)
    assert tuple(found) == WAYS
    return found


@pytest.mark.parametrize("name", WAYS)
def test_what_is_told_is_what_the_graphs_have(ways: dict[str, Way], name: str) -> None:
    way = ways[name]
    assert way.named("saved") == way.seen["saved"]
    assert sorted(way.named("recomputed")) == sorted(way.seen["again"])
    assert all(code for code in way.reasons().values())


def test_who_cut(ways: dict[str, Way]) -> None:
    told = {name: (way.partition.partitioner, way.partition.custom, way.partition.budget) for name, way in ways.items()}
    min_cut = "min_cut_rematerialization_partition"
    assert told == {
        **dict.fromkeys(("plain", "dynamic", "checkpoint", "selective", "aggressive"), (min_cut, "", 1.0)),
        "half": (min_cut, "", 0.5),
        "nothing": (min_cut, "", 0.0),
        "default": ("default_partition", "", None),
        "custom": ("default_partition", "Mine", None),
    }
    assert {way.partition.defined.partition(":")[0] for way in ways.values()} == {"torch/_functorch/partitioners.py"}


def test_the_rules_decide_where_nobody_else_does(ways: dict[str, Way]) -> None:
    reasons = ways["plain"].reasons()
    assert reasons["mm"] == "not-cheap"
    assert reasons["div"] == "materialized"
    assert reasons["sum_3"] == "reduction"
    assert {reasons[node] for node in ways["plain"].named("recomputed")} == {"cheap"}
    (row,) = [row for row in ways["plain"].rows if row.node == "mm"]
    assert (row.bytes, row.size, len(row.readers), row.is_needed) == (2048, "", 2, True)
    assert row.where is not None
    assert row.where.code == "return torch.sigmoid(F.gelu(x @ weight)).softmax(-1)"
    assert (row.weight or 0) > 2048


def test_sizes_with_symbols(ways: dict[str, Way]) -> None:
    row = next(row for row in ways["dynamic"].rows if row.node == "mm")
    assert row.bytes == 2048
    assert "s" in row.size
    assert [row.bytes for row in ways["dynamic"].rows if row.node in ("primals_1", "primals_2")] == [None, None]


def test_a_checkpoint_decides(ways: dict[str, Way]) -> None:
    reasons, marks = ways["checkpoint"].reasons(), ways["checkpoint"].marks
    again = ways["checkpoint"].named("recomputed")
    assert {reasons[node] for node in again} == {"checkpoint"}
    assert {"mm", "mm_1", "mm_2"} < set(again)
    assert {marks[node] for node in again} == {"prefer_recompute"}
    # The edge of a region, which torch marks itself.
    assert (reasons["div"], marks["div"]) == ("marked-by-torch", "prefer_recompute")


def test_a_selective_checkpoint_decides(ways: dict[str, Way]) -> None:
    reasons = ways["selective"].reasons()
    assert {reasons[node] for node in ("mm", "mm_1", "mm_2")} == {"must-save"}
    assert {reasons[node] for node in ways["selective"].named("recomputed")} == {"checkpoint"}


def test_a_budget_has_more_computed_again(ways: dict[str, Way]) -> None:
    half, plain = ways["half"], ways["plain"]
    sizes = {
        name: sum(row.bytes or 0 for row in ways[name].rows if row.decision == "saved" and not row.of) for name in WAYS
    }
    assert sizes["nothing"] == 0
    assert sizes["half"] < sizes["plain"]
    assert (half.partition.cuts, half.partition.cut, half.partition.lifted) == (4, 4, 1)
    more = [row for row in half.rows if row.decision == "recomputed" and row.lifted]
    assert {row.node for row in more} == {"mm_2", "div", "div_1"}
    assert {half.reasons()[row.node] for row in more} == {"budget"}
    first = {row.node: row.banned for row in plain.rows}
    assert all(row.lifted == first.get(row.node, row.lifted) for row in more)
    assert set(ways["nothing"].reasons().values()) == {"input", "budget"}


def test_rules_can_be_off(ways: dict[str, Way]) -> None:
    assert ways["aggressive"].partition.bans == ("ban_if_reduction",)
    assert ways["aggressive"].reasons()["mm"] == "compute-bound"
    assert "div" in ways["aggressive"].named("recomputed")


def test_the_default_partitioner_has_nothing_computed_again(ways: dict[str, Way]) -> None:
    for name in ("default", "custom"):
        assert ways[name].named("recomputed") == []
        assert set(ways[name].reasons().values()) == {"input", "default"}


def test_parameters_stay_and_other_inputs_may_go(dump_of: DumpOf) -> None:
    """Of the sample the weights are what a module holds; its inputs are the program's, and 128 rows each."""
    dump = Dump(dump_of("training_step").dump)
    inputs = [row for row in dump.rows(Saved) if row.is_input]
    forward, backward = (
        next(graph.graph for graph in dump.graphs() if graph.kind == kind) for kind in ("forward", "backward")
    )

    rows = {row.node: row.is_static for row in inputs}
    shapes = {
        node.name: node.values[0].size
        for node in dump.rows(Node, forward)
        if node.stage == "post_grad" and node.op == "placeholder" and node.values
    }
    assert rows
    assert rows == {name: shapes[name][0] != 128 for name in rows}
    hands_over = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)
    assert [plan.frees_tangents for plan in dump.rows(MemoryPlan, backward)] == [hands_over]
