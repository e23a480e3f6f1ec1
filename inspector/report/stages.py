"""The FX graphs of each stage before the last one, which `show nodes` lists: Dynamo's, joint, AOTAutograd's."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.facts import DynamoNode, JointNode, Node
from inspect_compile.graph import CompiledGraph
from inspect_compile.report.blocks import table
from inspect_compile.report.fx_text import graph_lines
from inspect_compile.report.markup import Budget, Markup, element
from inspect_compile.report.packing import packed
from inspect_compile.tables.lowering.nodes import COLUMNS
from inspect_compile.tables.styled_text import Table
from inspect_compile.tables.text import number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

STAGES: Final = (("Dynamo's graph", DynamoNode), ("the joint graph of forward and backward", JointNode))


def stages(dump: "Dump", graphs: list[CompiledGraph], most: int, budget: Budget) -> Iterator[Markup]:
    """A folded table for each stage of each compile and graph, at most so many rows of each, and the same as text."""
    for compile_id in dict.fromkeys(graph.fact.compile_id for graph in graphs):
        for title, kind in STAGES:
            yield from _listed(f"{title}, compile {compile_id}", dump.rows_of_compile(kind, compile_id), most, budget)
    for graph in graphs:
        rows = [node for node in dump.rows(Node, graph.name) if node.stage == "aot"]
        yield from _listed(f"AOTAutograd's graph {graph.name}", rows, most, budget)


def _listed(
    title: str, rows: "list[Node] | list[DynamoNode] | list[JointNode]", most: int, budget: Budget
) -> Iterator[Markup]:
    if not rows:
        return
    shown = rows[:most]
    left = len(rows) - len(shown)
    note = element("p", f"… {left:,} more", class_="dim") if left else Markup("")
    count = element("i", number_of(len(rows), "row"), class_="dim")
    head = element("summary", element("b", title), " ", count)
    text = "\n".join(graph_lines(rows))
    source = element("pre", text, class_="source", tabindex="0")
    written = packed(source, "the same as text") if budget.takes(text) else budget.too_long("the same as text")
    folded = element("details", element("summary", "as text"), written)
    yield element("details", head, folded, table(Table(COLUMNS, shown)), note, class_="table")
