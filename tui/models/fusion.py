"""Fusion: what was fused, which pairs stayed apart, the partners of the selection; the story of each, as in `why`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from inspect_compile.analysis.cost.schedule_rows import ScheduleRow, fused_rows
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import fusion as summed_up
from inspect_compile.analysis.fusion.pair_story import FusionStories
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, gathered
from inspect_compile.graph.fusion.ledger import Candidate, Ledger
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.overview.findings import MISSED_FUSION
from inspect_compile.tables.columns import Column, Span, text_lines
from inspect_compile.tables.fusion.fusion import ATTEMPTS, MISSES, ROUNDS, SIDES, STOPPED, stopped_rows
from inspect_compile.tables.fusion.why_text import (
    advice_lines,
    between_lines,
    difference_lines,
    left_out_lines,
    order_text,
    verdict_line,
)
from inspect_compile.tables.overview.findings import COLUMNS as FINDING_COLUMNS
from inspect_compile.tables.overview.findings import no_findings_text
from inspect_compile.tables.schedule import GROUPS
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, wrapped
from inspect_compile.tui.models.findings import finding_lines
from inspect_compile.tui.models.sheet import Record, Row, Sheet, Shown, Subject, Table

_MOST_ROWS: Final = 24
"""Maximum number of rows of one kind."""
GROUPS_MODE: Final = "groups"
FINDINGS: Final = "findings"
MISSED: Final = "missed"
ROUNDS_MODE: Final = "rounds"
PARTNERS: Final = "partners"
ALL: Final = "all pairs"
MODES: Final = (GROUPS_MODE, FINDINGS, MISSED, ROUNDS_MODE, PARTNERS, ALL)


def fusion(dump: Dump, chain: Chain, mode: str, chosen: frozenset[str] = frozenset()) -> Shown[Table]:
    """What `mode` shows of the chain's graph; `chosen` are the selected operations, by the chain's keys."""
    tables = _Tables(dump, chain)
    if mode == GROUPS_MODE:
        return tables.groups()
    if mode == FINDINGS:
        return tables.findings()
    if mode == MISSED:
        return tables.missed()
    if mode == ROUNDS_MODE:
        return tables.rounds()
    return tables.partners(chosen) if mode == PARTNERS else tables.pairs()


def misses(dump: Dump, chain: Chain) -> list[tuple[Miss, Subject]]:
    """The misses, most expensive first, each with its operations."""
    found = summed_up(chain.compiled)
    subjects = _Subjects(chain, found.ledgers)
    return [(miss, subjects.pair(miss.graph, miss.a, miss.b)) for miss in found.apart]


def count_findings(dump: Dump, chain: Chain) -> int:
    """How many findings the view lists."""
    return len(findings(chain.compiled))


def finding_key(graph: CompiledGraph, wanted: Finding) -> str:
    """Key of the row of a finding among those of its graph; empty if it is none of them."""
    for number, row in enumerate(findings(graph)):
        if (row.kind, row.names, row.what) == (wanted.kind, wanted.names, wanted.what):
            return f"finding {number}"
    return ""


class _Subjects:
    """What rows are about, by the chain's keys."""

    def __init__(self, chain: Chain, ledgers: list[Ledger]) -> None:
        self._chain = chain
        self._ledgers = {ledger.graph: ledger for ledger in ledgers}

    def one(self, graph: str, name: str) -> Subject:
        """A scheduler node."""
        return Subject("operation", self.names(graph, name), name, (name,))

    def pair(self, graph: str, a: str, b: str) -> Subject:
        """Two scheduler nodes."""
        return Subject("operation", self.names(graph, a) + self.names(graph, b), f"{a} × {b}", (a, b))

    def names(self, graph: str, name: str) -> tuple[str, ...]:
        """The operations of a scheduler node of any round."""
        ledger = self._ledgers.get(graph)
        members = (name,) if ledger is None else ledger.members.get(name, (name,))
        return tuple(self._chain.key(graph, member) for member in members)


class _Tables:
    """Rows and details of one graph and its nested graphs."""

    def __init__(self, dump: Dump, chain: Chain) -> None:
        self.found = summed_up(chain.compiled)
        self._dump = dump
        self._chain = chain
        self._subjects = _Subjects(chain, self.found.ledgers)
        missed = gathered((miss.graph, miss) for miss in self.found.misses)
        self._stories = {
            row.graph: FusionStories(CompiledGraph(dump, row.graph), missed.get(row.graph, ()))
            for row in self.found.ledgers
        }
        self._details: dict[str, Callable[[int], Sheet]] = {}

    def _shown(self, table: Table, what: str = "pair", empty: str = "") -> Shown[Table]:
        count = number_of(sum(not row.heading for row in table.rows), what)
        return Shown(table, count, empty=empty, details=self._details)

    def groups(self) -> Shown[Table]:
        """The scheduler nodes after fusion."""
        groups = fused_rows(self._chain.compiled)
        keys = [f"group {self._chain.key(group.graph, group.name)}" for group in groups]
        self._details.update((key, partial(self._group_lines, row)) for key, row in zip(keys, groups, strict=True))
        subjects = [self._subjects.one(group.graph, group.name) for group in groups]
        return self._shown(Table.of(GROUPS, groups, keys, subjects), "group")

    def findings(self) -> Shown[Table]:
        """All findings about the graph, its compile and the run."""
        rows: list[Row] = []
        for number, row in enumerate(findings(self._chain.compiled)):
            key = f"finding {number}"
            is_pair = row.kind == MISSED_FUSION
            self._details[key] = (
                partial(self._pair_lines, row.graph, row.names[0], row.names[1])
                if is_pair
                else partial(finding_lines, row)
            )
            rows.append(Row.of(FINDING_COLUMNS, row, key, self._subject(row)))
        empty = f"{no_findings_text(self._dump)}: inspect-compile show findings --kinds"
        return self._shown(Table(FINDING_COLUMNS, rows), "finding", empty=empty)

    def _subject(self, row: Finding) -> Subject | None:
        """What a finding is about: two scheduler nodes, a node and what copies for it, or a line of the user's own."""
        if row.kind == MISSED_FUSION:
            return self._subjects.pair(row.graph, row.names[0], row.names[1])
        for part in row.parts:
            if part.node:
                return self._chain.of_copy(row.graph, part.node, row.buffers)
            if part.where is not None:
                return self._chain.of_line(Line.of(own_line(part.where) or part.where))
        return None

    def missed(self) -> Shown[Table]:
        """The misses."""
        rows: list[Row] = []
        for heading, found in (
            ("", self.found.apart),
            ("in one launch, as separate loops", self.found.beside),
            ("with a library call: never tried", self.found.beside_calls),
        ):
            if found and heading:
                rows.append(Row.title(heading, heading))
            for miss in found:
                key = f"miss {self._chain.key(miss.graph, miss.a)} {miss.b}"
                self._details[key] = partial(self._pair_lines, miss.graph, miss.a, miss.b)
                rows.append(Row.of(MISSES, miss, key, self._subjects.pair(miss.graph, miss.a, miss.b)))
        rows += [Row.title(line, line, "dim") for line in left_out_lines(self.found.left_out)]
        return self._shown(Table(MISSES, rows))

    def rounds(self) -> Shown[Table]:
        """For each round, its fusions in order, and its refusals by reason."""
        rows: list[Row] = []
        for story in self._stories.values():
            ledger = story.ledger
            for one in ledger.rounds:
                looked = [row for row in ledger.candidates if row.round == one.number]
                rows += self._round(ledger, one.number, len(one.nodes), looked, is_reorder=one.reorder)
        return self._shown(Table(ATTEMPTS, rows))

    def _round(
        self, ledger: Ledger, number: int, nodes: int, looked: list[Candidate], *, is_reorder: bool
    ) -> Iterator[Row]:
        fused = sorted((row for row in looked if row.verdict == "fused"), key=lambda row: row.rank or 1 << 30)
        name = self._chain.key(ledger.graph, "")
        how = ", with other loop orders tried" if is_reorder else ""
        counts = f"  {number_of(nodes, 'node')}, {number_of(len(fused), 'fusion')}{how}"
        heading = (Span(f"{name}round {number}", "title"), Span(counts, "dim"))
        yield Row(f"round {name}{number}", (heading,), heading=True)
        for row in (*fused, *(one for one in looked if one.verdict in ("allowed", "deferred", "slower", "undone"))):
            yield self._row(row)
        refused = Counter(row.code for row in looked if row.verdict == "refused")
        for code, count in refused.most_common():
            words = f"  {number_of(count, 'pair')} refused: {code}"
            yield Row.title(f"round {name}{number} {code}", words, "dim")

    def partners(self, chosen: frozenset[str]) -> Shown[Table]:
        """Every node that shares a buffer with the selection, and every node that it was tried with."""
        rows: list[Row] = []
        for story in self._stories.values():
            ledger, graph = story.ledger, story.graph
            mine = {name for name in story.operations if self._chain.key(graph, name) in chosen}
            if not mine:
                continue
            last: dict[tuple[str, str], Candidate] = {}
            for row in (*ledger.untried(), *ledger.candidates):
                if mine & set(ledger.members.get(row.a, (row.a,))) or mine & set(ledger.members.get(row.b, (row.b,))):
                    last[row.a, row.b] = row
            rows += [self._row(row) for row in sorted(last.values(), key=_importance)]
        empty = "Nothing is selected: select a node, an operation or a kernel in another view, or a group here."
        empty = "It shares no buffer with any other scheduler node." if chosen else empty
        return self._shown(Table(ATTEMPTS, rows), empty=empty)

    def pairs(self) -> Shown[Table]:
        """Every look at a pair."""
        rows = [self._row(row) for story in self._stories.values() for row in story.ledger.candidates]
        return self._shown(Table(ATTEMPTS, rows))

    def _row(self, row: Candidate) -> Row:
        key = f"pair {self._chain.key(row.graph, '')}{row.round} {row.a} {row.b}"
        self._details[key] = partial(self._pair_lines, row.graph, row.a, row.b)
        return Row.of(ATTEMPTS, row, key, self._subjects.pair(row.graph, row.a, row.b))

    def _pair_lines(self, graph: str, a: str, b: str, width: int) -> Code:
        story = self._stories.get(graph)
        return Code(()) if story is None else Code(_pair_lines(story, a, b, width))

    def _group_lines(self, group: ScheduleRow, width: int) -> Code:
        story = self._stories.get(group.graph)
        return Code(()) if story is None or not group.members else Code(_group_lines(story, group.members[0]))


def _importance(row: Candidate) -> tuple[int, int]:
    """Sort key, the most interesting first: allowed, then refused by shared bytes, then fused, then never tried."""
    place = {"allowed": 0, "deferred": 0, "slower": 0, "undone": 0, "refused": 1, "fused": 2}.get(row.verdict, 3)
    return place, -(row.shared_bytes or 0)


def _pair_lines(stories: FusionStories, a: str, b: str, width: int) -> list[StyledLine]:
    """The story of two scheduler nodes of any round, wrapped to a width in columns."""
    one, other = stories.meant(a), stories.meant(b)
    title = styled(f"{a} × {b}", "title")
    if not (one.operations and other.operations):
        return [title, styled("Nothing else was recorded of them.", "dim")]
    story = stories.pair(one, other)
    lines = [title, *_lines_of(SIDES, (story.a, story.b), "dim"), *_wrapped(verdict_line(story), width)]
    lines += [line for sentence in between_lines(story) for line in _wrapped(sentence, width)]
    if story.rounds:
        lines.append(styled(""))
        lines += _lines_of(ROUNDS, story.rounds, "dim")
    if story.differences:
        lines.append(styled(""))
        for line in difference_lines(story):  # indices are aligned below each other; only their explanation is wrapped
            lines += [line] if line.is_aligned else _wrapped(line, width)
    if advice := list(advice_lines(story)):
        lines.append(styled(""))
        lines += [line for sentence in advice for line in _wrapped(sentence, width)]
    return lines


def _group_lines(stories: FusionStories, operation: str) -> list[StyledLine]:
    """How the scheduler node that contains `operation` grew, and what stopped it."""
    lines: list[StyledLine] = []
    for story in stories.group(stories.meant(operation)):
        ran = story.kernel or "no kernel: a view, or a part of what another kernel writes"
        lines += [
            styled(story.group, "title"),
            styled(ran, "accent"),
            *_lines_of(SIDES, story.members, "dim"),
        ]
        if story.grown:
            lines += [styled(""), styled("How it grew", "title")]
            lines += _lines_of(ROUNDS, story.grown, "good")
        if story.stopped:
            lines += [styled(""), styled(f"What stopped it, {order_text(story.stopped)}", "title")]
            lines += _lines_of(STOPPED, stopped_rows(story), "warn")
    return lines


def _lines_of(columns: Sequence[Column[Record]], rows: Sequence[Record], role: str) -> list[StyledLine]:
    titles, *lines = text_lines(columns, rows[:_MOST_ROWS])
    return [styled(titles, "dim"), *(styled(line, role) for line in lines)]


def _wrapped(line: StyledLine, width: int) -> list[StyledLine]:
    return wrapped(line.plain, width, line.role)
