"""A contract's figures are those of the tables, and hold wherever the same is compiled."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.frontend.guards import guard_rows
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.lock.check import check
from inspect_compile.analysis.lock.contract import contract, relative_to
from inspect_compile.analysis.lock.frames import compile_of
from inspect_compile.analysis.lock.records import MISSED_OVER, GraphLock, Lock, Machine
from inspect_compile.analysis.lock.rules import DEFAULT, parsed
from inspect_compile.analysis.overview.summary import summarize, summarize_run
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Frame, Graph
from inspect_compile.graph import CompiledGraph, Graphs
from tests.conftest import SAMPLES, DumpOf
from tests.handmade import FILE, GRAPH, at, ended, graph, kernel, made, node

KERNEL = "triton_poi_fused_relu_0"

RULES = parsed(DEFAULT)


@pytest.mark.parametrize("sample", ["graph_breaks", "missed_fusion", "dynamic_shapes"])
def test_figures_are_those_of_the_tables(sample: str, dump_of: DumpOf) -> None:
    dump = Dump(dump_of(sample).dump)
    found = contract(dump, root=str(SAMPLES))
    run, graphs = summarize_run(dump), dump.outermost()
    frames = found.lock.frames
    assert sum(sum(one.graph_breaks.values()) for one in frames) == run.graph_breaks
    assert sum(sum(one.recompiles.values()) for one in frames) == run.recompiles
    guards = Counter(kind for row in guard_rows(Graphs(dump)) for kind in row.kinds)
    assert sum((Counter(one.guards) for one in frames), Counter()) == guards
    assert sorted(found.names.values()) == sorted(graph.graph for graph in graphs)
    for index, name in found.names.items():
        graph = next(one for one in graphs if one.graph == name)
        compare(dump, graph, found.lock.graphs[index])


def compare(dump: Dump, graph: Graph, lock: GraphLock) -> None:
    """Each figure of the contract with that of `show summary` and `show fusion`."""
    told, fused = summarize(CompiledGraph(dump, graph.graph)), fusion(CompiledGraph(dump, graph.graph))
    assert (lock.flops, lock.bytes, lock.peak, lock.launches) == (
        told.flops,
        told.moved_bytes,
        told.peak_bytes,
        told.launches,
    )
    assert sum(lock.operators.values()) == told.flops
    assert sum(lock.kernels.values()) == sum(count for kind, count in told.kernels.items() if kind != "extern")
    assert (sum(lock.extern.values()) > 0) == (told.kernels.get("extern", 0) > 0)
    assert sum(lock.missed.values()) == sum(miss.saved_bytes >= MISSED_OVER for miss in fused.apart)


def test_another_order_of_compiles_is_the_same(dump_of: DumpOf) -> None:
    now = contract(Dump(dump_of("graph_breaks").dump), root=str(SAMPLES))
    old = msgspec.structs.replace(
        now.lock,
        frames=now.lock.frames[::-1],
        graphs=now.lock.graphs[::-1],
        machine=msgspec.structs.replace(now.lock.machine, graphs=now.lock.machine.graphs[::-1]),
    )
    assert check(old, now, RULES).changes == []


def test_sources_count_on_the_same_kind_of_machine_only(dump_of: DumpOf) -> None:
    now = contract(Dump(dump_of("graph_breaks").dump), root=str(SAMPLES))
    assert now.lock.machine.kind.endswith(", 2 threads")
    graphs = tuple(msgspec.structs.replace(one, sources={"0 other": 1}) for one in now.lock.machine.graphs)
    other = Machine(kind=now.lock.machine.kind, graphs=graphs)
    changes = check(msgspec.structs.replace(now.lock, machine=other), now, RULES).changes
    assert [one.metric for one in changes] == ["sources"] * len(graphs)
    elsewhere = msgspec.structs.replace(now.lock, machine=Machine(kind="another", graphs=graphs))
    result = check(elsewhere, now, RULES)
    assert (result.changes, result.is_same_machine) == ([], False)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("spills = 0", "88 spilled bytes, and the rule is spills = 0"),
        ("spills <= 2x", "spills of f (forward): 8 → 88"),
        ("registers <= 64", "255 registers, and the rule is registers <= 64"),
        ("registers.forward <= 64", "255 registers, and the rule is registers.forward <= 64"),
        ("no change in registers", "registers of f (forward): 40 → 255"),
    ],
)
def test_a_bound_on_what_kernels_were_compiled_to(rule: str, told: str, tmp_path: Path) -> None:
    """Of a Triton kernel with 255 registers that spills 88 bytes, at its line."""
    known = Binary(graph=GRAPH, kernel=KERNEL, label="XBLOCK1-w4-s1", num_warps=4, target="sm_90", shared=0)
    dump = made(
        tmp_path,
        Frame(graph="0/0", function="f", file=FILE, line=6, status="compiled"),
        graph(),
        ended(),
        node("relu", "aten.relu.default", where=at(7, "x.relu()")),
        kernel(KERNEL, kind="triton", nodes=("relu",), lines=(at(7, "x.relu()"),)),
        msgspec.structs.replace(known, registers=255, spills=88),
    )
    now = contract(dump, root=str(SAMPLES))
    (machine,) = now.lock.machine.graphs
    assert (machine.registers, machine.spills) == (255, 88)
    before = Machine(kind="sm_90", graphs=(msgspec.structs.replace(machine, registers=40, spills=8),))
    lock = msgspec.structs.replace(now.lock, machine=Machine(kind="sm_90", graphs=(machine,)))
    now = msgspec.structs.replace(now, lock=lock)
    (change,) = check(msgspec.structs.replace(now.lock, machine=before), now, parsed([rule])).changes
    assert change.message == told
    assert change.where is not None
    assert change.where.line == 7
    assert change.why in (f"{KERNEL} has 255 registers a thread", f"{KERNEL} spills 88 bytes a thread")


def test_a_missing_frame_and_a_new_one_are_told(dump_of: DumpOf) -> None:
    now = contract(Dump(dump_of("missed_fusion").dump), root=str(SAMPLES))
    changes = check(Lock(), now, RULES).changes
    assert {one.metric for one in changes} == {"frames", "graphs"}
    assert changes[0].where is not None
    assert Path(changes[0].where.file).name == "missed_fusion.py"


def test_files_are_named_the_same_for_everybody() -> None:
    name = relative_to("/home/ann/project")
    assert name("/home/ann/project/src/model.py") == "src/model.py"
    assert name("/opt/env/lib/python3.12/site-packages/lib/layer.py") == "lib/layer.py"
    assert name("/home/ann/project/.venv/lib/python3.12/site-packages/lib/layer.py") == "lib/layer.py"
    assert name("/home/bob/other.py") == "other.py"
    assert name("train.py") == "train.py"


def test_a_compile_has_one_name_however_often_it_was_begun() -> None:
    assert [compile_of(one) for one in ("3/1", "3/1_2", "3/1/cond_true_0", "3/10_1/wrap_0")] == ["3/1"] * 3 + ["3/10"]
