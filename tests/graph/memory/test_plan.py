"""The replay of the wrapper's memory, and what a real call holds."""

import json
import os
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.frontend.times import parts, stage_times, total
from inspect_compile.analysis.memory.holders import holders, index_at, moment
from inspect_compile.analysis.memory.remarks import memory_remarks
from inspect_compile.analysis.memory.saved import activations
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.facts import Frame, JointNode, Kernel, MemoryPlan, Partition, Saved, Tensor, WrapperLine
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.memory.plan import Memory
from inspect_compile.graph.memory.replay import replays
from inspect_compile.graph.memory.saved_owners import OnlySaved, only_saved
from tests.handmade import GRAPH, at, ended, graph, line, lowered, made, node, operation

SCALAR = 4
HELD = Path(__file__).parents[2] / "analysis" / "programs" / "held.py"


def test_names_hold_storages(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "allocate", buffer="buf1", bytes=10),
        line(2, "reuse", buffer="buf0", becomes="buf2", bytes=100, delete_old=True),
        line(3, "free", buffer="buf1", is_reused=True),
        line(4, "extern", buffer="buf3", bytes=50, kernel="extern_kernels.mm", torch_type="ExternKernelAllocLine"),
        line(5, "extern", buffer="buf2", bytes=100, kernel="extern_kernels.mm", torch_type="ExternKernelOutLine"),
        line(6, "free", buffer="buf2"),
        line(7, "free", buffer="x", bytes=1000),
        operation("op3", reads={}, writes={"buf3": 50}, users=("OUTPUT",)),
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert [(step.line, step.live) for step in found.steps] == [
        (100, 100),
        (101, 110),
        (102, 110),
        (104, 160),
        (105, 160),
        (106, 60),
        (None, 50),
    ]
    assert (found.peak, found.peak_line) == (160, 104)
    assert (found.allocated, found.allocations) == (160, 3)
    assert found.end == 50


def test_a_tuple_is_its_parts(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        operation("op1", reads={"buf0": 0}, writes={"buf1": 30}, ir_type="MultiOutput"),
        operation("op2", reads={"buf0": 0}, writes={"buf2": 12}, ir_type="MultiOutput"),
        line(0, "extern", buffer="buf0", kernel="aten.split", torch_type="ExternKernelAllocLine"),
        line(1, "multi_output", buffer="buf1"),
        line(2, "multi_output", buffer="buf2"),
        line(3, "free", buffer="buf0"),
        line(4, "free", buffer="buf2"),
    )

    assert [step.live for step in CompiledGraph(dump, GRAPH).memory.steps] == [42, 30]


def test_a_nested_graph_counts_where_it_is_called(tmp_path: Path) -> None:
    inner = f"{GRAPH}/true_graph_0"
    dump = made(
        tmp_path,
        graph(),
        graph(inner, kind="subgraph", parent=GRAPH),
        line(0, "allocate", buffer="true_graph_0_buf0", bytes=70, graph=inner),
        line(1, "allocate", buffer="buf0", bytes=8),
        line(2, "text", text="buf1 = true_graph_0(true_graph_0_args)"),
        line(3, "text", text="buf2 = other_graph_0(args)"),
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert (found.peak, found.peak_line) == (78, 102)


def test_a_loop_is_played_until_it_holds_the_same(tmp_path: Path) -> None:
    """It carries x, which is the caller's, and buf0; one round makes 40 and 60 bytes more, and gives the flag."""
    test, body = (f"{GRAPH}/{name}" for name in ("cond_0", "body_0"))
    dump = made(
        tmp_path,
        graph(),
        graph(test, kind="subgraph", parent=GRAPH),
        graph(body, kind="subgraph", parent=GRAPH),
        line(0, "allocate", buffer="flag", bytes=1, graph=test),
        MemoryPlan(graph=test, inputs={"arg0": 40, "arg1": 60}, outputs=("flag",)),
        line(0, "allocate", buffer="inner0", bytes=40, graph=body),
        line(1, "allocate", buffer="inner1", bytes=500, graph=body),
        line(2, "free", buffer="inner1", graph=body),
        MemoryPlan(graph=body, inputs={"arg0": 40, "arg1": 60}, outputs=("", "inner0", "arg1")),
        line(0, "allocate", buffer="buf0", bytes=60),
        line(1, "text", text="buf2 = [None] * 3"),
        line(2, "text", text="buf2[1] = x"),
        line(3, "text", text="buf2[2] = buf0"),
        line(4, "text", text="cond_0_args = [buf2[1], buf2[2]]"),
        line(5, "text", text="(buf2_cond_result,) = cond_0(cond_0_args)"),
        line(6, "text", text="should_loop = buf2_cond_result"),
        line(7, "text", text="if not should_loop:"),
        line(8, "enter_subgraph"),
        line(9, "text", text="buf2[1] = x.clone()"),
        line(10, "exit_subgraph"),
        line(11, "text", text="while should_loop:"),
        line(12, "enter_subgraph"),
        line(13, "text", text="body_0_args = [buf2[1], buf2[2]]"),
        line(14, "text", text="(buf2[0], buf2[1], buf2[2]) = body_0(body_0_args)"),
        line(15, "exit_subgraph"),
        line(16, "text", text="    should_loop = buf2_cond_result"),
        line(17, "free", buffer="buf0"),
        line(18, "multi_output", buffer="buf3", text="buf2[1]"),
        line(19, "multi_output", buffer="buf4", text="buf2[2]"),
        line(20, "free", buffer="buf2"),
        line(21, "free", buffer="buf4"),
        MemoryPlan(graph=GRAPH, inputs={"x": 40}, outputs=("buf3",)),
    )

    found = CompiledGraph(dump, GRAPH).memory

    check_moments(dump, GRAPH)
    # Before the second round 60 of buf0, 40 of the first and the flag are held; a round holds 540 more.
    assert (found.peak, found.peak_index, found.nested) == (641, 14, 540)
    assert (found.loops, found.unentered, found.end) == ((0,), 101, 40)
    assert [(step.index, step.live) for step in found.steps if step.index > 13] == [(14, 101), (21, 41), (22, 40)]


def test_a_loop_that_keeps_every_round(tmp_path: Path) -> None:
    body = f"{GRAPH}/body_0"
    dump = made(
        tmp_path,
        graph(),
        graph(body, kind="subgraph", parent=GRAPH),
        line(0, "allocate", buffer="inner0", bytes=40, graph=body),
        MemoryPlan(graph=body, inputs={"arg0": 40}, outputs=("inner0",)),
        line(0, "text", text="buf2[0] = x"),
        line(1, "text", text="while should_loop:"),
        line(2, "text", text="body_0_args = [buf2[0]]"),
        line(3, "text", text="(buf2[0],) = body_0(body_0_args)"),
        line(4, "text", text="buf2[1].append(buf2[0])"),
        line(5, "text", text="    should_loop = buf2_cond_result"),
        line(6, "text", text="buf2[0] = torch.stack(buf2[1], dim=0)"),
        line(7, "text", text="while should_loop:"),  # of a torn dump
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert (found.loops, found.peak, found.peak_index) == ((40,), 160, 6)


def test_the_backward_graph_gives_back_what_was_saved(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(kind="backward"),
        node("primals_1"),
        node("relu"),
        node("tangents_1"),
        line(0, "allocate", buffer="buf0", bytes=40),
        line(1, "free", buffer="relu"),
        line(2, "free", buffer="primals_1"),
        line(3, "free", buffer="tangents_1"),
    )

    assert [step.live for step in CompiledGraph(dump, GRAPH).memory.steps] == [40, 24]


def test_gradients_that_are_handed_over_are_freed(tmp_path: Path) -> None:
    """From torch 2.13 on; that of a loss alone, which has no dimension, is held by what began the backward."""
    loss = replace(node("tangents_2"), values=(Tensor("float32", (), (), "cpu", 4),))
    dump = made(
        tmp_path,
        graph(kind="backward"),
        node("tangents_1"),
        loss,
        line(0, "free", buffer="tangents_1"),
        line(1, "free", buffer="tangents_2"),
        line(2, "allocate", buffer="buf0", bytes=40),
        MemoryPlan(graph=GRAPH, inputs={"tangents_1": 16, "tangents_2": 4}, outputs=("buf0",), frees_tangents=True),
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert (found.peak, found.end, found.given) == (24, 24, ())


def test_a_pool_is_one_piece_of_memory(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        line(0, "pool_allocate", buffer="buf0", bytes=60, pool="pool1", pool_bytes=100),
        line(1, "pool_allocate", buffer="buf1", bytes=40, pool="pool1"),
        line(2, "pool_free", buffer="buf0", bytes=60, pool="pool1"),
        line(3, "pool_allocate", buffer="buf2", bytes=50, pool="pool1"),
        line(4, "pool_free", buffer="buf1", bytes=40, pool="pool1"),
        line(5, "pool_free", buffer="buf2", bytes=50, pool="pool1", is_last=True),
        MemoryPlan(graph=GRAPH, estimate=120),
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert [(step.index, step.live) for step in found.steps] == [(0, 100), (5, 0)]
    assert (found.peak, found.unplanned, found.estimate) == (100, 100, 120)
    assert [storage.names for storage in found.storages] == [["pool1", "buf0", "buf1", "buf2"]]


def test_views_and_parts_that_nothing_reads(tmp_path: Path) -> None:
    extern = {"kernel": "aten.f", "torch_type": "ExternKernelAllocLine"}
    dump = made(
        tmp_path,
        graph(),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "extern", buffer="buf1", aliases=("buf0",), parts={"buf2": 50, "buf3": 50}, **extern),
        line(2, "multi_output", buffer="buf2"),
        line(3, "free", buffer="buf0"),
        line(4, "free", buffer="buf1"),
        line(5, "extern", buffer="buf4", parts={"buf5": 30, "buf6": 7}, **extern),
        line(6, "multi_output", buffer="buf5"),
        line(7, "free", buffer="buf4"),
        line(8, "free", buffer="buf2"),
        MemoryPlan(graph=GRAPH, outputs=("buf5",)),
    )

    found = CompiledGraph(dump, GRAPH).memory

    assert [(step.index, step.live) for step in found.steps] == [(0, 100), (1, 100), (5, 137), (7, 130), (8, 30)]
    assert found.end == 30


def test_a_graph_that_returns_nothing_holds_nothing_at_its_end(tmp_path: Path) -> None:
    """A step of an optimizer that clips gradients in place: the wrapper's last buffers go when its function returns."""
    rows = graph(), line(0, "allocate", buffer="buf0", bytes=92), line(1, "launch", kernel="cpp_fused_mul_0")
    found = CompiledGraph(made(tmp_path / "none", *rows, MemoryPlan(graph=GRAPH)), GRAPH).memory
    assert (found.peak, found.end, found.steps[-1].what) == (92, 0, "return")
    found = CompiledGraph(made(tmp_path / "one", *rows, MemoryPlan(graph=GRAPH, outputs=("buf0",))), GRAPH).memory
    assert (found.peak, found.end) == (92, 92)


def test_without_planning_nothing_waits_to_be_used_again(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        ended(),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "free", buffer="buf0", is_reused=True),
        line(2, "allocate", buffer="buf1", bytes=500),
        line(3, "free", buffer="buf1"),
        line(4, "reuse", buffer="buf0", becomes="buf2", bytes=100, is_planned=True, delete_old=True),
        line(5, "reuse", buffer="buf2", becomes="buf3", bytes=100, delete_old=True),
        MemoryPlan(graph=GRAPH, outputs=("buf3",)),
    )

    found = CompiledGraph(dump, GRAPH).memory
    (remark,) = memory_remarks(Graphs(dump))

    assert (found.peak, found.unplanned, found.end) == (600, 500, 100)
    assert (remark.code, remark.numbers) == ("reuse-raises-peak", {"peak": 600, "without": 500})


def test_of_two_branches_the_dearer_counts(tmp_path: Path) -> None:
    """What a nested graph alone is given is its own to free."""
    inner = [f"{GRAPH}/{name}" for name in ("true_0", "false_0")]
    plans = [MemoryPlan(graph=name, inputs={"x": 10}, outputs=("y",)) for name in inner]
    dump = made(
        tmp_path,
        graph(),
        *(graph(name, kind="subgraph", parent=GRAPH) for name in inner),
        line(0, "free", buffer="x", graph=inner[0]),
        line(1, "allocate", buffer="y", bytes=70, graph=inner[0]),
        line(0, "allocate", buffer="y", bytes=70, graph=inner[1]),
        line(0, "allocate", buffer="buf0", bytes=10),
        line(1, "enter_subgraph"),
        line(2, "text", text="true_0_args = [buf0,]"),
        line(3, "free", buffer="buf0"),
        line(4, "text", text="buf1 = true_0(true_0_args)"),
        line(5, "exit_subgraph"),
        line(6, "text", text="else:"),
        line(7, "enter_subgraph"),
        line(8, "text", text="false_0_args = [buf0,]"),
        line(9, "text", text="buf1 = false_0(false_0_args)"),
        line(10, "exit_subgraph"),
        line(11, "multi_output", buffer="buf2"),
        line(12, "free", buffer="buf1"),
        operation("op2", reads={"buf1": 0}, writes={"buf2": 70}, ir_type="MultiOutput"),
        MemoryPlan(graph=GRAPH, outputs=("buf2",)),
        *plans,
    )

    found = CompiledGraph(dump, GRAPH).memory

    check_moments(dump, GRAPH)
    assert [step.live for step in found.steps if step.index == 4] == [70]
    assert (found.peak, found.peak_index, found.end) == (80, 9, 70)


def test_what_the_backward_keeps(tmp_path: Path) -> None:
    backward = "model__0_backward_3.1"
    names = ("relu", "view", "sum_1", "primals_1", "tangents_1")

    def saved(name: str, size: int, of: str = "", decision: str = "saved", *, is_needed: bool = True) -> Saved:
        joint = "model__0_joint_0"
        return Saved(graph="0/0", aot_graph=joint, node=name, decision=decision, bytes=size, of=of, is_needed=is_needed)

    dump = made(
        tmp_path,
        graph(),
        graph(backward, kind="backward"),
        *(node(name, graph=backward) for name in names),
        saved("relu", 40),
        saved("view", 40, "relu", is_needed=False),
        saved("sum_1", 16, "sum_1"),
        saved("primals_1", 16, "primals_1"),
        saved("erf", 100, decision="recomputed"),
        *(line(index, "free", buffer=name, graph=backward) for index, name in enumerate(names)),
        line(5, "allocate", buffer="buf0", bytes=60, graph=backward),
        MemoryPlan(graph=backward, inputs=dict.fromkeys(names, 16), outputs=("buf0",)),
    )

    found, kept = CompiledGraph(dump, backward).memory, activations(CompiledGraph(dump, backward))

    assert [(step.index, step.live) for step in found.steps] == [(1, -40), (5, 20)]
    assert (found.peak, found.dropped, found.given) == (20, 0, ("sum_1", "tangents_1"))
    assert kept is not None
    assert (kept.saved, kept.without, {row.graph for row in kept.kept}) == (40, 140, {GRAPH})


def test_the_forward_may_keep_a_copy_of_an_input(tmp_path: Path) -> None:
    """A weight that is laid out anew is the forward's own, whatever the partitioner took it for; a view of it too."""
    backward = "model__0_backward_3.1"
    names = ("primals_1", "primals_2", "primals_3", "mm", "view", "sum_1", "sin", "tangents_1")

    def saved(name: str, size: int, of: str = "", **more: Any) -> Saved:
        row = Saved(graph="0/0", aot_graph="model__0_joint_0", node=name, decision="saved", bytes=size, of=of, **more)
        return replace(row, is_needed=True)

    dump = made(
        tmp_path,
        graph(),
        graph(backward, kind="backward"),
        *(node(name, graph=backward) for name in names),
        saved("primals_1", 40, "primals_1", is_input=True),
        saved("primals_2", 16, "primals_2", is_input=True),
        saved("primals_3", 8, "primals_3", is_input=True, is_static=False),
        saved("mm", 100),
        saved("view", 100),
        saved("sum_1", 16, "primals_2"),
        saved("sin", 24, "sin"),
        line(0, "allocate", buffer="buf0", bytes=48),
        line(1, "extern", buffer="buf1", bytes=100, torch_type="ExternKernelAllocLine"),
        line(2, "extern", buffer="buf2", aliases=("buf1",), torch_type="ExternKernelAllocLine"),
        line(3, "extern", buffer="buf3", aliases=("primals_2",), torch_type="ExternKernelAllocLine"),
        line(4, "allocate", buffer="buf4", bytes=24),
        MemoryPlan(
            graph=GRAPH,
            inputs={"primals_1": 40, "primals_2": 16, "primals_3": 8},
            outputs=("buf4", "buf0", "primals_2", "primals_3", "buf1", "buf2", "buf3", "buf4"),
        ),
        *(line(index, "free", buffer=name, graph=backward) for index, name in enumerate(names)),
        MemoryPlan(graph=backward, inputs=dict.fromkeys(names, 16)),
    )

    found, kept = CompiledGraph(dump, backward).memory, activations(CompiledGraph(dump, backward))

    assert [(step.index, step.live) for step in found.steps] == [(0, -48), (4, -148)]
    assert (found.end, found.dropped_end, found.given) == (-148, -196, ("primals_3", "sin", "tangents_1"))
    assert kept is not None
    assert {row.node: (row.why, row.of, row.bytes) for row in kept.kept if row.node in ("primals_1", "primals_2")} == {
        "primals_1": ("copied-input", "", 48),
        "primals_2": ("input", "primals_2", 16),
    }
    assert kept.saved == 148


def test_what_is_computed_again_and_why(tmp_path: Path) -> None:
    backward = "model__0_backward_3.1"
    joint = "model__0_joint_0"

    def cut(node: str, size: int, decision: str, **more: Any) -> Saved:
        return Saved(graph="0/0", aot_graph=joint, node=node, bytes=size, decision=decision, **more)

    dump = made(
        tmp_path,
        graph(),
        graph(backward, kind="backward"),
        Partition(graph="0/0", aot_graph=joint, budget=0.5, cuts=4, cut=3, forward=9),
        JointNode(
            graph="0/0",
            aot_graph=joint,
            stage="joint",
            index=0,
            name="mm",
            op="call_function",
            target="aten.mm",
            policy="must_save",
        ),
        cut("primals_1", 16, "saved", of="primals_1", is_input=True),
        cut("mm", 40, "saved", policy="must_save", banned="marked MUST_SAVE"),
        cut("sum_1", 4, "saved", banned="reduction op", is_needed=True),
        cut("full", 4, "saved", banned="the moon is full"),
        cut("erf", 100, "recomputed", readers=("mul_9",), is_needed=True),
        cut("mm_1", 50, "recomputed", lifted="compute intensive op", is_needed=True),
        cut("view", 50, "recomputed", of="mm_1", unsavable="view op (recompute_views=True)"),
        Kernel(graph=backward, name="cpp_fused_erf_0", kind="cpp", nodes=("mul_9", "erf")),
        Kernel(graph=GRAPH, name="cpp_fused_erf_1", kind="cpp", nodes=("erf",)),
    )

    found = activations(CompiledGraph(dump, backward))
    (remark,) = memory_remarks(Graphs(dump))

    assert found is not None
    assert {row.node: row.why for row in found.kept} == {
        "primals_1": "input",
        "mm": "must-save",
        "sum_1": "reduction",
        "full": "banned",
        "erf": "cheap",
        "mm_1": "budget",
        "view": "view",
    }
    assert [row.kernels for row in found.kept if row.node in ("erf", "mm")] == [(), ("cpp_fused_erf_0",)]
    assert ([row.node for row in found.again], found.unneeded) == (["erf", "mm_1"], 3)
    assert (found.saved, found.without) == (48, 154)
    assert remark.message == "recomputes 2 values in the backward: saves 106 B of 154 B"


def test_who_holds_the_peak(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("add", "aten.add.Tensor", where=at(7)),
        lowered("add", "aten.add.Tensor", buffers=("buf0",)),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "allocate", buffer="buf1", bytes=300),
        line(2, "reuse", buffer="buf0", becomes="buf2", bytes=100, delete_old=True),
        line(3, "free", buffer="buf1"),
        line(4, "free", buffer="buf2"),
    )
    found = CompiledGraph(dump, GRAPH).memory
    held = holders(CompiledGraph(dump, GRAPH), found)

    now, later = (moment(found, held, index_at(found, line) or 0) for line in ("peak", "103"))

    assert [(row.buffers, row.bytes, row.span) for row in now.holders] == [
        (("buf1",), 300, "101–103"),
        (("buf0", "buf2"), 100, "100–104"),
    ]
    assert [row.share for row in now.holders] == [0.75, 0.25]
    assert [(step.share, step.is_peak) for step in found.steps[:2]] == [(0.25, False), (1.0, True)]
    assert not any(step.is_peak for step in found.steps[2:])
    assert now.live == 400
    assert [(row.node, row.where) for row in later.holders] == [("add", at(7))]
    assert index_at(found, "99") is None


def check_moments(dump: Dump, name: str) -> None:
    """After each line those who hold the memory hold what is live, in branches and loops too."""
    found = CompiledGraph(dump, name).memory
    held = holders(CompiledGraph(dump, name), found)
    for step in found.steps:
        now = moment(found, held, step.index)
        assert now.live == sum(row.bytes for row in now.holders) + now.nested - now.returned, step
        whole = now.live + now.returned
        assert not now.holders or sum(row.share or 0.0 for row in now.holders) == pytest.approx(1 - now.nested / whole)


def told(dump: Dump, name: str, call: dict[str, Any]) -> tuple[int, int]:
    """Peak and end, as the call would be seen that `call` tells of: without the frees that it does not count."""
    saved, replay = only_saved(CompiledGraph(dump, name)), replays(CompiledGraph(dump, name))[name]
    inputs = list(replay.plan.inputs.items()) if replay.plan is not None else []
    gone, untold = ({inputs[position][0] for position in call[kind]} for kind in ("gone", "untold"))
    may = saved.own | saved.given | {(tangent,): size for tangent, size in inputs if size == SCALAR}
    played = replay.play(name, saved.own, [], is_planned=True)
    returned = {tuple(one.names) for one in played.storages.all if one.origin == "given" and one.died is None}
    freed = {group: size for group, size in may.items() if gone.issuperset(group)}
    written = {
        group: size for group, size in saved.own.items() if any(found[: len(group)] == group for found in returned)
    }
    assert saved.own.keys() == (freed.keys() | written.keys()) & saved.own.keys()
    assert gone == {one for group in freed for one in group}
    for real, peak, end in _said(CompiledGraph(dump, name).memory, saved):
        if (freed | written).keys() == real.keys():
            played = replay.play(name, real, [], is_planned=True)
            assert (peak, end) == (played.peak, played.storages.live)
    counted = {group: size for group, size in (freed | written).items() if not untold.intersection(group)}
    played = replay.play(name, counted, [], is_planned=True)
    return played.peak, played.storages.live


def _said(found: Memory, saved: OnlySaved) -> list[tuple[dict[tuple[str, ...], int], int, int]]:
    """What is freed, with the peak and the end that are told for that."""
    return [(saved.own, found.peak, found.end), (saved.own | saved.given, found.dropped, found.dropped_end)]


def check_held(folder: Path, script: Path, *arguments: str, environment: dict[str, str]) -> Dump:
    """Each graph's peak and end are those of its first call, byte for byte; with branches those of the dearest.

    What is said to be held by autograd alone is gone after the call, and nothing else is but what the program may have
    let go of; of that the replay is told what is gone.
    """
    dump, found = folder / "dump", folder / "held.json"
    command = [sys.executable, str(HELD), str(dump), str(found), str(script), *arguments]
    subprocess.run(command, capture_output=True, check=True, timeout=600, env={**os.environ, **environment})
    held = {row["code"]: row["calls"] for row in json.loads(found.read_text())["graphs"]}
    recorded = open_dump(dump)
    ours: dict[str, tuple[int, int]] = {}
    real: dict[str, tuple[int, int]] = {}
    for graph_fact in recorded.outermost():
        name = graph_fact.graph
        calls = held.get(recorded.text(name, f"{paths.OUTPUT_CODE}.py") or "")
        if calls:
            has_branches = any(row.what == "enter_subgraph" for row in recorded.rows(WrapperLine, name))
            call = max(calls, key=itemgetter("peak")) if has_branches else calls[0]
            real[name] = call["peak"], call["end"]
            ours[name] = told(recorded, name, call)
            check_moments(recorded, name)
    assert real
    assert ours == real
    return recorded


def test_the_peak_is_what_the_profiler_sees(tmp_path: Path, inductor_cache: Path) -> None:
    """Branches, writes in place, views, tuples, sizes that change, and a step of training."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    dump = check_held(tmp_path, HELD.with_name("held_forms.py"), environment=environment)

    assert {found.kind for found in dump.outermost()} == {"inference", "forward", "backward"}
    check_times(dump, json.loads((tmp_path / "held.json").read_text())["times"])


def check_times(dump: Dump, counted: dict[str, list[float]]) -> None:
    """The parts add up to what torch counts itself, and the stages of each compile to its outermost parts."""
    found = parts(dump)
    ours = {name: sum(part.seconds for part in found if part.name == name) for name in {part.name for part in found}}
    shared = {name: sum(times) for name, times in counted.items() if name in ours}
    assert {"GraphLowering.run", "Scheduler.codegen", "aot_trace_joint_graph"} <= set(shared)
    assert ours == pytest.approx({**ours, **shared}, rel=1e-3, abs=1e-3)
    frames = sum(counted["_compile.compile_inner"])
    assert ours["entire_frame_compile"] == pytest.approx(frames, rel=1e-3, abs=1e-3)
    for compile_id in {part.graph for part in found}:
        own = [part for part in found if part.graph == compile_id]
        assert sum(stage.seconds for stage in stage_times(own)) == pytest.approx(total(own), rel=0.01, abs=1e-3)
    for frame in dump.rows(Frame):
        timed = sum(part.seconds for part in found if part.graph == frame.graph and part.name == "dynamo")
        assert frame.status != "compiled" or 0.9 * frame.seconds < timed
