"""The rows of `show schedule`, against the files of a dump as they are written."""

import json
from pathlib import Path
from typing import Any

from inspect_compile.analysis.cost.schedule_rows import fused_rows, schedule_rows
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from tests.handmade import GRAPH, at, graph, kernel, made, node, operation

MIXED = Path(__file__).parents[2] / "data" / "tui" / "mixed"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_row_is_what_the_files_say() -> None:
    dump = Dump(MIXED)
    for name in (found.graph for found in dump.graphs()):
        folder = dump.folder(name)
        written = [row for row in lines(folder / "schedule.jsonl") if row["phase"] == "post_fusion"]
        where = {
            row["name"]: (row["where"]["file"], row["where"]["line"])
            for row in lines(folder / "nodes.jsonl")
            if row["stage"] == "post_grad" and row["where"] is not None
        }
        runs = {group: row["name"] for row in lines(folder / "kernels.jsonl") for group in row.get("groups", ())}

        found = fused_rows(CompiledGraph(dump, name))

        assert [row.name for row in found] == [row["name"] for row in written]
        for row, there in zip(found, written, strict=True):
            assert list(row.members) == there["members"]
            assert row.kernel == runs.get(row.name, "")
            assert {(at.file, at.line) for at in row.lines} == {where[one] for one in there["nodes"] if one in where}
            assert row.is_counted == (there["ir_type"] != "MultiOutput" and there["kind"] != "nop")


def test_bytes_lines_and_kernel_of_a_node(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("relu", "aten.relu.default", where=at(3)),
        node("add", "aten.add.Tensor", where=at(3)),
        node("sum", "aten.sum.default"),
        operation("op0_op1", reads={"x": 8}, writes={"buf1": 100}, nodes=("relu", "add", "sum")),
        operation("op2", reads={"buf1": 100}, writes={}, order=1, kind="nop"),
        kernel("cpp_fused_0", "op0_op1"),
    )

    fused, view = schedule_rows(CompiledGraph(dump, GRAPH))

    assert (fused.read, fused.written, fused.kernel, fused.lines) == (8, 100, "cpp_fused_0", (at(3),))
    assert (view.is_counted, view.read, view.kernel) == (False, None, "")


def test_without_fusion_the_nodes_before_it_are_shown(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), operation("op0", reads={"x": 8}, writes={"buf0": 8}, phase="pre_fusion"))

    assert [(row.name, row.phase) for row in schedule_rows(CompiledGraph(dump, GRAPH))] == [("op0", "pre_fusion")]
    assert fused_rows(CompiledGraph(dump, GRAPH)) == []
