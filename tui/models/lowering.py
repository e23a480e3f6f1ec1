"""How each node was lowered to IR, what was realized and why, what it was made from and what became of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple

from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.analysis.overview.node_story import node_story
from inspect_compile.analysis.provenance.lineage import Lineage, Link, NodeRef
from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Realize, Remark
from inspect_compile.tables.columns import Cell, Span, cell
from inspect_compile.tables.lowering.step_text import inlined_text
from inspect_compile.tables.overview.node_page import STAGE_WORDS, page_lines
from inspect_compile.tables.text import multiple_text, number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.jump import EVERYTHING, IR, Jump
from inspect_compile.tui.models.passes.fx import STAGES
from inspect_compile.tui.models.sheet import Column, Row, Subject, Table

COLUMNS: Final = (
    Column("node", stretch=True, least=10, most=40),
    Column("way", most=14),
    Column("made", stretch=True, least=5, most=24),
    Column("realized?", stretch=True, least=20, most=90),
    Column("FLOP", right=True, drop=1),
    Column("operator", drop=2, stretch=True, least=12, most=40),
)

FORMS: Final = (IR, EVERYTHING)

NEVER: Final = frozenset({"placeholder", "output", "view", "getitem", "constant", "subgraph", "dead"})
"""Kinds of lowering without a computation: whether their value is realized does not matter."""

_MODES: Final = {stage: mode for mode, stage in STAGES.items()}
_MOST_KIN = 40
_LABEL = 9


class Detail(NamedTuple):
    """The detail of one row."""

    code: Code
    jumps: dict[str, Jump]
    """Key of a line that names a node of another graph → where that node is."""


@dataclass
class Steps:
    """The lowering of a graph: a row for each node, and the detail of each row."""

    table: Table
    lowerings: dict[str, Lowering]
    """Row key → the fact."""
    asks: dict[str, list[Realize]]
    """Row key → realizations while it was lowered, or of its value later."""
    virtual: dict[str, Inlined]
    """Row key → who computes a value that was never realized."""
    _lineage: list[Lineage] = field(default_factory=list)
    _operations: list[Operations] = field(default_factory=list)
    """Created for the first row that is looked at, on the reader's thread."""

    def detail(self, dump: Dump, chain: Chain, key: str, form: str = IR) -> Detail:
        """Everything about how one node came about: its IR, or with another of FORMS its whole page."""
        row = self.lowerings.get(key)
        if row is None:
            return Detail(Code(()), {})
        if not self._lineage:
            self._lineage.append(Lineage(dump, chain.graph))
            self._operations.append(Operations(dump, chain.graph))
        lineage, kin = self._lineage[0], NodeRef("post_grad", row.graph, row.node)
        if form != IR and kin in lineage.nodes:
            return Detail(Code([_page_line(text) for text in page_lines(dump, node_story(dump, lineage, kin))]), {})
        lines = _head(row)
        if (virtual := self.virtual.get(key)) is not None:
            lines.append(_line("inlined", inlined_text(virtual), "good"))
        lines += _asked(row, self.asks.get(key, []))
        lines += _remarks(dump, row)
        jumps: dict[str, Jump] = {}
        for label, links in (("of", lineage.ancestors(kin)[::-1]), ("became", lineage.descendants(kin))):
            for text, jump in _kin(lineage, chain, links):
                jumps[f"at {len(lines)}"] = jump
                lines.append(CodeLine(f"{label:{_LABEL}}{text}", role="accent"))
                label = ""
        if why := lineage.why_none(kin) if kin in lineage.nodes else "":
            lines.append(_line("of", f"no node of Dynamo's: {why}"))
        lines += _ir(row, self.lowerings, key)
        lines += self._bodies(row)
        return Detail(Code(lines), jumps)

    def _bodies(self, row: Lowering) -> Iterator[CodeLine]:
        """The loops of the operations that compute it."""
        operations = self._operations[0]
        for one in operations.rows:
            if one.graph == row.graph and (row.node in one.nodes or one.name in row.operations):
                body = operations.body(one)
                if body:
                    yield CodeLine("", role="dim")
                    yield CodeLine(f"{one.name}: {one.kind} {one.ir_type}", role="title")
                yield from (CodeLine(text, language="python") for text in body)


def ir(dump: Dump, chain: Chain) -> Steps:
    """The lowering of the chain's graph, in torch's order."""
    asks: dict[str, list[Realize]] = {}
    for ask in dump.rows(Realize, chain.graph):
        for name in dict.fromkeys((ask.node, ask.origin)):
            if name is not None:
                asks.setdefault(chain.key(ask.graph, name), []).append(ask)
    virtual = {chain.key(*place): found for place, found in inlined(dump, chain.graph).items()}
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
        cells = partial(_cells, row, asks.get(key, []), virtual.get(key))
        rows.append(Row(key, cells, Subject("node", (key,), row.node, (row.node,))))
    return Steps(Table(COLUMNS, rows), lowerings, asks, virtual)


def _cells(row: Lowering, asks: list[Realize], virtual: Inlined | None) -> tuple[Cell, ...]:
    is_quiet = row.way in ("placeholder", "output", "getitem")
    return (
        cell(row.node, "dim" if is_quiet else "name"),
        cell(row.way if row.error is None else "failed", "bad" if row.error is not None else _way_role(row.way)),
        cell(" ".join(row.buffers), "accent"),
        _real(row, asks, virtual),
        cell(multiple_text(row.flops, "") if row.flops else "", "dim"),
        cell(row.target.removesuffix(".default") if row.op == "call_function" else "", "dim"),
    )


def _way_role(way: str) -> str:
    return "warn" if way == "fallback" else "good" if way == "lowering" else "dim"


def _real(row: Lowering, asks: list[Realize], virtual: Inlined | None) -> Cell:
    if row.error is not None:
        return cell(row.error.splitlines()[0] if row.error else "", "bad")
    own = next((ask for ask in asks if ask.realized and (ask.origin == row.node or ask.buffer in row.buffers)), None)
    if own is not None:
        later = f" (for {own.node})" if own.node not in (None, row.node) else ""
        return (Span("realized ", "accent"), Span(f"{own.reason}{later}", ""))
    if row.buffers:
        return (Span("realized ", "accent"), Span("made as a buffer", ""))
    if row.way in NEVER:
        return ()
    where = (
        f"computed in {number_of(virtual.count, 'operation')}" if virtual is not None else "computed inside its users"
    )
    return (Span("virtual ", "good"), Span(where, "dim"))


def _line(label: str, text: str, role: str = "dim") -> CodeLine:
    return CodeLine(f"{label:{_LABEL}}{text}", role=role)


def _page_line(text: str) -> CodeLine:
    return CodeLine(text, role="title" if text and not text.startswith(" ") else "")


def _head(row: Lowering) -> list[CodeLine]:
    lines = [CodeLine(f"{row.node}  {row.target}", role="title")]
    facts = [
        ("way", row.way + (f"  {row.via}" if row.via else "")),
        ("layout", row.constraint or ""),
        ("in", ", ".join(row.arguments)),
        ("made", " ".join((*row.buffers, *row.operations))),
        ("FLOP", f"{row.flops:,} ({row.flops_kind})" if row.flops else ""),
    ]
    lines += [_line(name, text) for name, text in facts if text]
    if row.error is not None:
        lines += [CodeLine(text, role="bad") for text in row.error.splitlines()]
    return lines


def _asked(row: Lowering, asks: list[Realize]) -> Iterator[CodeLine]:
    for ask in asks:
        state = "was realized" if ask.realized else "was realized already"
        who = f", asked while lowering {ask.node}" if ask.node not in (None, row.node) else ""
        yield _line(
            "real" if ask.realized else "asked", f"{ask.buffer or '?'} {state}: {ask.reason}{who}  {ask.caller}"
        )


def _remarks(dump: Dump, row: Lowering) -> Iterator[CodeLine]:
    names = {row.node, *row.buffers, *row.operations}
    for remark in dump.rows(Remark):
        if remark.graph == row.graph and not names.isdisjoint(remark.ids):
            yield _line(remark.kind, f"{remark.code}: {remark.message}", "warn" if remark.kind == "missed" else "dim")


def _kin(lineage: Lineage, chain: Chain, links: Iterable[Link]) -> Iterator[tuple[str, Jump]]:
    """Its relatives in words, and where to find them."""
    for link in list(links)[:_MOST_KIN]:
        kin, node = link.kin, lineage.nodes[link.kin]
        outer = kin.graph.partition("/")[0]
        is_lowered = kin.stage in ("aot", "post_grad")
        text = f"{STAGE_WORDS.get(kin.stage, kin.stage):12}{kin.name}  {node.target}   {link.how}"
        key = chain.key(kin.graph, kin.name) if is_lowered and outer == chain.graph else kin.name
        yield text, Jump(outer if is_lowered else "", _MODES[kin.stage], key)


def _ir(row: Lowering, lowerings: dict[str, Lowering], key: str) -> Iterator[CodeLine]:
    shown = row.result
    if row.same_as is not None:
        yield _line("out", f"the same IR as {row.same_as}")
        shown = lowerings.get(key.removesuffix(row.node) + row.same_as, row).result
    yield CodeLine("", role="dim")
    yield from (CodeLine(text, language="python") for text in shown.splitlines())
