"""How each node was lowered to IR, what was realized and why, what it was made from and what became of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from inspect_compile.analysis.lowering.inlining import Inlined, inlined
from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.analysis.lowering.rows import LoweringRow, asks_of, lowering_rows
from inspect_compile.analysis.overview.node_story import node_story
from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Realize, Remark
from inspect_compile.graph import outermost
from inspect_compile.graph.provenance.lineage import Lineage, Link, NodeRef
from inspect_compile.tables.columns import Column, picked
from inspect_compile.tables.lowering.lowering import COLUMNS, TARGET, VALUE
from inspect_compile.tables.lowering.step_text import inlined_text
from inspect_compile.tables.overview.node_page import STAGE_WORDS, page_lines
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine, SheetLine
from inspect_compile.tui.models.fx import STAGES
from inspect_compile.tui.models.sheet import Jump, Row, Shown, Table

_MADE: Final[Column[LoweringRow]] = Column(
    "made", lambda row: " ".join(row.buffers), role="accent", stretch=True, least=5, most=24
)
SHOWN: Final = picked(
    COLUMNS, "node", "how", _MADE, replace(VALUE, drop=0, least=20), "FLOP", replace(TARGET, drop=2, least=12)
)

IR: Final = "IR"
FORMS: Final = (IR, "everything")
"""What is shown of a node: its lowering, or its whole page."""

_MODES: Final = {stage: mode for mode, stage in STAGES.items()}
_MOST_KIN = 40
_LABEL = 9


class Detail(NamedTuple):
    """The detail of one row."""

    code: Code
    jumps: dict[str, Jump]
    """Key of a line that names a node of another graph → where that node is."""


@dataclass(frozen=True)
class Steps(Shown[Table]):
    """The lowering of a graph: a row for each node, and the detail of each row."""

    lowerings: Mapping[str, Lowering] = field(default_factory=dict)
    """Row key → the lowering."""
    asks: Mapping[str, list[Realize]] = field(default_factory=dict)
    """Row key → realizations while it was lowered, or of its value later."""
    virtual: Mapping[str, Inlined] = field(default_factory=dict)
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
            self._lineage.append(chain.compiled.lineage)
            self._operations.append(Operations(chain.compiled))
        lineage, kin = self._lineage[0], NodeRef("post_grad", row.graph, row.node)
        if form != IR and kin in lineage.nodes:
            return Detail(Code(list(page_lines(dump, node_story(dump, lineage, kin)))), {})
        lines = _head(row)
        if (virtual := self.virtual.get(key)) is not None:
            lines.append(_line("inlined", inlined_text(virtual), "good"))
        lines += _asked(row, self.asks.get(key, []))
        lines += _remarks(dump, row)
        jumps: dict[str, Jump] = {}
        for label, links in (("of", lineage.ancestors(kin)[::-1]), ("became", lineage.descendants(kin))):
            for text, jump in _kin(lineage, chain, links):
                jumps[f"at {len(lines)}"] = jump
                lines.append(styled(f"{label:{_LABEL}}{text}", "accent"))
                label = ""
        if why := lineage.why_none(kin) if kin in lineage.nodes else "":
            lines.append(_line("of", f"no node of Dynamo's: {why}"))
        lines += _ir(row, self.lowerings, key)
        lines += self._bodies(row)
        return Detail(Code(lines), jumps)

    def _bodies(self, row: Lowering) -> Iterator[SheetLine]:
        """The loops of the operations that compute it."""
        operations = self._operations[0]
        for one in operations.rows:
            if one.graph == row.graph and (row.node in one.nodes or one.name in row.operations):
                body = operations.body(one)
                if body:
                    yield styled("", "dim")
                    yield styled(f"{one.name}: {one.kind} {one.ir_type}", "title")
                yield from (CodeLine(text, language="python") for text in body)


def ir(dump: Dump, chain: Chain) -> Steps:
    """The lowering of the chain's graph, in torch's order."""
    asks = {chain.key(*place): found for place, found in asks_of(chain.compiled).items()}
    virtual = {chain.key(*place): found for place, found in inlined(chain.compiled).items()}
    rows: list[Row] = []
    lowerings: dict[str, LoweringRow] = {}
    graph = chain.graph
    for row in lowering_rows(chain.compiled):
        if row.graph != graph:
            graph = row.graph
            heading = graph.removeprefix(chain.graph).strip("/") or chain.graph
            rows.append(Row.title(f"graph {heading} {len(rows)}", heading))
        key = chain.key(row.graph, row.node)
        lowerings[key] = row
        rows.append(Row.of(SHOWN, row, key, chain.of_node(row.graph, row.node)))
    count = number_of(len(lowerings), "node")
    return Steps(Table(SHOWN, rows), count, lowerings=lowerings, asks=asks, virtual=virtual)


def _line(label: str, text: str, role: str = "dim") -> StyledLine:
    return styled(f"{label:{_LABEL}}{text}", role)


def _head(row: Lowering) -> list[SheetLine]:
    lines: list[SheetLine] = [styled(f"{row.node}  {row.target}", "title")]
    facts = [
        ("how", row.way + (f"  {row.via}" if row.via else "")),
        ("layout", row.constraint or ""),
        ("in", ", ".join(row.arguments)),
        ("made", " ".join((*row.buffers, *row.operations))),
        ("FLOP", f"{row.flops:,} ({row.flops_kind})" if row.flops else ""),
    ]
    lines += [_line(name, text) for name, text in facts if text]
    if row.error is not None:
        lines += [styled(text, "bad") for text in row.error.splitlines()]
    return lines


def _asked(row: Lowering, asks: list[Realize]) -> Iterator[StyledLine]:
    for ask in asks:
        state = "was realized" if ask.realized else "was realized already"
        who = f", asked while lowering {ask.node}" if ask.node not in (None, row.node) else ""
        yield _line("stored", f"{ask.buffer or '?'} {state}: {ask.reason}{who}  {ask.caller}")


def _remarks(dump: Dump, row: Lowering) -> Iterator[StyledLine]:
    names = {row.node, *row.buffers, *row.operations}
    for remark in dump.rows(Remark):
        if remark.graph == row.graph and not names.isdisjoint(remark.ids):
            yield _line(remark.kind, f"{remark.code}: {remark.message}", "warn" if remark.kind == "missed" else "dim")


def _kin(lineage: Lineage, chain: Chain, links: Iterable[Link]) -> Iterator[tuple[str, Jump]]:
    """Its relatives in words, and where to find them."""
    for link in list(links)[:_MOST_KIN]:
        kin, node = link.kin, lineage.nodes[link.kin]
        outer = outermost(kin.graph)
        is_lowered = kin.stage in ("aot", "post_grad")
        text = f"{STAGE_WORDS.get(kin.stage, kin.stage):12}{kin.name}  {node.target}   {link.how}"
        key = chain.key(kin.graph, kin.name) if is_lowered and outer == chain.graph else kin.name
        yield text, Jump(outer if is_lowered else "", _MODES[kin.stage], key)


def _ir(row: Lowering, lowerings: Mapping[str, Lowering], key: str) -> Iterator[SheetLine]:
    shown = row.result
    if row.same_as is not None:
        yield _line("out", f"the same IR as {row.same_as}")
        shown = lowerings.get(key.removesuffix(row.node) + row.same_as, row).result
    yield styled("", "dim")
    yield from (CodeLine(text, language="python") for text in shown.splitlines())
