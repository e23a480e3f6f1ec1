"""The rows of the table of lowerings, against the recorded lowerings, requests and operations."""

from pathlib import Path

from inspect_compile.analysis.lowering.rows import lowering_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Operation, Realize
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, lowered, made


def test_what_became_of_each_value(tmp_path: Path) -> None:
    asked = Realize(
        graph=GRAPH, index=2, node="mul", buffer="buf0", realized=True, reason="why", caller="", origin="add"
    )
    dump = made(
        tmp_path,
        graph(),
        lowered("x"),
        lowered("add", "aten.add.Tensor"),
        lowered("mul", "aten.mul.Tensor"),
        lowered("mm", "aten.mm.default", buffers=("buf1",)),
        lowered("bad", "aten.bad.default", error="Oops"),
        asked,
    )

    assert [
        (row.value, row.reason, row.realized_for, row.inlined_in) for row in lowering_rows(CompiledGraph(dump, GRAPH))
    ] == [
        ("", "", "", None),
        ("realized", "why", "mul", None),
        ("inlined", "", "", None),
        ("realized", "", "", None),
        ("", "", "", None),
    ]


def test_a_row_for_each_lowering(dump_of: DumpOf) -> None:
    """What is realized is in a buffer that an operation writes, and what is inlined in none."""
    dump = Dump(dump_of("training_step").dump)
    for found in dump.graphs():
        rows, facts = lowering_rows(CompiledGraph(dump, found.graph)), dump.rows(Lowering, found.graph)
        same = Lowering.__struct_fields__
        assert [[getattr(row, name) for name in same] for row in rows] == [
            [getattr(fact, name) for name in same] for fact in facts
        ]
        written = {node for row in dump.rows(Operation, found.graph) if row.phase == "pre_fusion" for node in row.nodes}
        assert {row.node for row in rows if row.value == "realized" and row.way == "lowering"} <= written
        assert {row.value for row in rows} == {"", "realized", "inlined"}
        assert all(row.inlined_in for row in rows if row.value == "inlined")
        assert all(not row.buffers for row in rows if row.value == "inlined")
