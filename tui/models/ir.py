"""How each node became IR: the way it took, the buffers it made, what became real and why."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Realize
from inspect_compile.tables.text import multiple_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Cell, Column, Row, Span, Subject, Table, cell

COLUMNS: Final = (
    Column("node", stretch=True, least=10, most=40),
    Column("way", most=14),
    Column("made", stretch=True, least=5, most=24),
    Column("real?", stretch=True, least=20, most=90),
    Column("FLOP", right=True, drop=1),
    Column("operator", drop=2, stretch=True, least=12, most=40),
)

NEVER: Final = frozenset({"placeholder", "output", "view", "getitem", "constant", "subgraph", "dead"})
"""Ways that compute nothing: whether their value is real is not asked."""


@dataclass(frozen=True)
class Steps:
    """The lowering of a graph: a row a node, and the text behind each row."""

    table: Table
    lowerings: dict[str, Lowering]
    """Row key → the fact."""
    asks: dict[str, list[Realize]]
    """Row key → what was asked to become real while it was lowered, or of its value later."""

    def detail(self, key: str) -> Code:
        """The IR of one node, and all that is known of how it came about."""
        row = self.lowerings.get(key)
        return Code(()) if row is None else Code(_detail(row, self.asks.get(key, []), self.lowerings, key))


def ir(dump: Dump, chain: Chain) -> Steps:
    """The lowering of the chain's graph, in torch's order."""
    asks: dict[str, list[Realize]] = {}
    for ask in dump.rows(Realize, chain.graph):
        for name in dict.fromkeys((ask.node, ask.origin)):
            if name is not None:
                asks.setdefault(chain.key(ask.graph, name), []).append(ask)
    rows: list[Row] = []
    lowerings: dict[str, Lowering] = {}
    graph = chain.graph
    for row in dump.rows(Lowering, chain.graph):
        if row.graph != graph:
            graph = row.graph
            heading = graph.removeprefix(chain.graph).strip("/") or chain.graph
            rows.append(Row(f"graph {heading} {len(rows)}", (cell(heading, "title"),), heading=True))
        key = chain.key(row.graph, row.node)
        lowerings[key] = row
        rows.append(Row(key, partial(_cells, row, asks.get(key, [])), Subject("node", (key,), row.node, (row.node,))))
    return Steps(Table(COLUMNS, rows), lowerings, asks)


def _cells(row: Lowering, asks: list[Realize]) -> tuple[Cell, ...]:
    is_quiet = row.way in ("placeholder", "output", "getitem")
    return (
        cell(row.node, "dim" if is_quiet else "name"),
        cell(row.way if row.error is None else "failed", "bad" if row.error is not None else _way_role(row.way)),
        cell(" ".join(row.buffers), "accent"),
        _real(row, asks),
        cell(multiple_text(row.flops, "") if row.flops else "", "dim"),
        cell(row.target.removesuffix(".default") if row.op == "call_function" else "", "dim"),
    )


def _way_role(way: str) -> str:
    return "warn" if way == "fallback" else "good" if way == "lowering" else "dim"


def _real(row: Lowering, asks: list[Realize]) -> Cell:
    if row.error is not None:
        return cell(row.error.splitlines()[0] if row.error else "", "bad")
    own = next((ask for ask in asks if ask.realized and (ask.origin == row.node or ask.buffer in row.buffers)), None)
    if own is not None:
        later = f" (for {own.node})" if own.node not in (None, row.node) else ""
        return (Span("real ", "accent"), Span(f"{own.reason}{later}", ""))
    if row.buffers:
        return (Span("real ", "accent"), Span("made as a buffer", ""))
    if row.way in NEVER:
        return ()
    return (Span("virtual ", "good"), Span("computed inside its users", "dim"))


def _detail(row: Lowering, asks: list[Realize], lowerings: dict[str, Lowering], key: str) -> list[CodeLine]:
    lines = [CodeLine(f"{row.node}  {row.target}", role="title")]
    facts = [
        ("way", row.way + (f"  {row.via}" if row.via else "")),
        ("layout", row.constraint or ""),
        ("in", ", ".join(row.arguments)),
        ("made", " ".join((*row.buffers, *row.operations))),
        ("FLOP", f"{row.flops:,} ({row.flops_kind})" if row.flops else ""),
    ]
    lines += [CodeLine(f"{name:8}{text}", role="dim") for name, text in facts if text]
    if row.error is not None:
        lines += [CodeLine(text, role="bad") for text in row.error.splitlines()]
    for ask in asks:
        state = "became real" if ask.realized else "was real already"
        who = f", asked while lowering {ask.node}" if ask.node not in (None, row.node) else ""
        lines.append(CodeLine(f"{ask.buffer or '?'} {state}: {ask.reason}{who}  {ask.caller}", role="dim"))
    result, shown = row, row.result
    prefix = key.removesuffix(row.node)
    if row.same_as is not None:
        result = lowerings.get(prefix + row.same_as, row)
        lines.append(CodeLine(f"the same IR as {row.same_as}", role="dim"))
        shown = result.result
    lines.append(CodeLine("", role="dim"))
    lines += [CodeLine(text, language="python") for text in shown.splitlines()]
    return lines
