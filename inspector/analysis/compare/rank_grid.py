"""The ranks of a run beside each other: a row for each compile of a function, a column for each rank.

With many ranks a column is of all that compiled the same.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.analysis.compare.content import Content, FrameContent, GraphContent, content
from inspect_compile.analysis.compare.differences import (
    KINDS,
    Difference,
    compare_frames,
    compare_graphs,
    compare_settings,
)
from inspect_compile.analysis.compare.pairing import Pairing
from inspect_compile.analysis.compare.ranks import Agreement, RankSummary, summarize_ranks
from inspect_compile.analysis.compare.side_by_side import KernelSide, launches_of
from inspect_compile.analysis.dumps.parts import ProcessDump, ranks_text
from inspect_compile.analysis.runtime.collectives import outside
from inspect_compile.facts import Collective
from inspect_compile.graph import CompiledGraph

SINGLE: Final = 6
"""Up to this number of ranks each has a column of its own."""


@dataclass(frozen=True)
class GraphCell:
    """One graph of one rank."""

    content: GraphContent
    launches: KernelSide
    peak: int
    """Bytes, at the most, that its wrapper holds."""
    seconds: float | None
    """Time spent compiling it; None without an end."""


@dataclass
class Cell:
    """What the rank of a column has of a row."""

    frame: FrameContent | None = None
    graphs: list[GraphCell] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    """From the first column; none in that."""

    @property
    def is_empty(self) -> bool:
        """True if the rank has nothing of it."""
        return self.frame is None and not self.graphs


@dataclass
class Row:
    """One compile of one function; of graphs without a recorded frame, the compile id alone."""

    function: str
    where: str
    cells: list[Cell]

    @property
    def is_same(self) -> bool:
        """True if all columns compiled the same."""
        return not any(cell.differences for cell in self.cells)


@dataclass(frozen=True)
class RankColumn:
    """A rank, or all ranks that compiled the same, told by the lowest of them."""

    ranks: tuple[int, ...]
    name: str
    summaries: tuple[RankSummary, ...]
    """Of each of its ranks."""
    peak: int
    """Of its graphs the most bytes that one holds."""
    outside: tuple[Collective, ...]
    """Collectives that no compiled graph called, of the lowest rank."""
    others_outside: tuple[int, ...]
    """Its ranks that called others outside of graphs."""
    settings: tuple[Difference, ...]
    """Versions, devices and variables that are not those of the first column."""


@dataclass(frozen=True)
class RankGrid:
    """All of it. The first column is what the others are held against."""

    columns: tuple[RankColumn, ...]
    rows: tuple[Row, ...]
    left_out: int
    """Groups of ranks that compiled something different again and have no column."""


def rank_grid(there: dict[int, ProcessDump], found: Agreement) -> RankGrid:
    """`there` are the ranks of a run, at least one, and `found` which of them agree."""
    groups = list(found.groups)
    if len(there) <= SINGLE:
        first, *others = (rank for group in groups for rank in group)
        groups = [(rank,) for rank in (first, *sorted(others))]
    shown = groups[:SINGLE]
    contents = [content(there[group[0]].dump) for group in shown]
    summaries = {row.rank: row for row in summarize_ranks(there, found)}
    columns = []
    for group, own_content in zip(shown, contents, strict=True):
        dump = there[group[0]].dump
        own = outside(dump)
        names = ranks_text(shown[0]), ranks_text(group)
        columns.append(
            RankColumn(
                group,
                ranks_text(group),
                tuple(summaries[rank] for rank in group),
                max((CompiledGraph(dump, graph.graph).memory.peak for graph in dump.outermost()), default=0),
                tuple(own),
                tuple(rank for rank in group[1:] if outside(there[rank].dump) != own),
                tuple(compare_settings(contents[0], own_content, names)),
            )
        )
    rows = _Rows(there, columns, contents).in_order()
    return RankGrid(tuple(columns), tuple(rows), len(groups) - len(shown))


_Key = tuple[str, str, int]
"""Function, place, and the how manieth compile of it; for a graph without a frame its compile id."""


class _Rows:
    """Rows as columns are added: those of the first one, and what others have between them."""

    def __init__(
        self, there: dict[int, ProcessDump], columns: Sequence[RankColumn], contents: Sequence[Content]
    ) -> None:
        self._there, self._columns, self._contents = there, columns, contents
        self._rows: dict[_Key, Row] = {}
        self._after: dict[_Key | None, list[_Key]] = {}
        """Row → the rows that stand right below it."""
        first = contents[0]
        keys = dict(zip((frame.compile_id for frame in first.frames), _numbered(first.frames), strict=True))
        self._add(0, first, keys)
        for number, other in enumerate(contents[1:], 1):
            self._held_against(number, other, keys)

    def in_order(self) -> Iterator[Row]:
        """From the top."""
        ahead = [*reversed(self._after.get(None, ()))]
        while ahead:
            key = ahead.pop()
            yield self._rows[key]
            ahead += reversed(self._after.get(key, ()))

    def _held_against(self, number: int, other: Content, keys: dict[str, _Key]) -> None:
        names = self._columns[0].name, self._columns[number].name
        both = Pairing(self._contents[0], other)
        paired = {b.compile_id: a for a, b in both.frames if a is not None and b is not None}
        own = dict(zip((frame.compile_id for frame in other.frames), _numbered(other.frames), strict=True))
        own |= {compile_id: keys[frame.compile_id] for compile_id, frame in paired.items()}
        self._add(number, other, own)
        for a, b in both.frames:
            key = keys[a.compile_id] if a is not None else own[b.compile_id] if b is not None else None
            if key is not None:
                self._rows[key].cells[number].differences += compare_frames(a, b, names)
        for pair in both.graphs:
            row = _key(pair.b, own) if pair.b is not None else _key(pair.a, keys) if pair.a is not None else None
            if row is not None:
                self._rows[row].cells[number].differences += compare_graphs(pair.a, pair.b, names)
        for one in self._rows.values():
            one.cells[number].differences.sort(key=lambda row: KINDS.index(row.kind))

    def _add(self, number: int, of: Content, keys: dict[str, _Key]) -> None:
        dump = self._there[self._columns[number].ranks[0]].dump
        above: _Key | None = None
        for frame in of.frames:
            above = self._row(keys[frame.compile_id], above)
            self._rows[above].cells[number].frame = frame
        for graph in of.graphs:
            key = _key(graph, keys)
            if key not in self._rows:
                above = self._row(key, above)
            end = dump.graph_end(graph.graph)
            self._rows[key].cells[number].graphs.append(
                GraphCell(
                    graph,
                    launches_of(dump, graph.graph),
                    CompiledGraph(dump, graph.graph).memory.peak,
                    end.seconds if end is not None else None,
                )
            )

    def _row(self, key: _Key, above: _Key | None) -> _Key:
        if key not in self._rows:
            self._rows[key] = Row(key[0], key[1], [Cell() for _ in self._columns])
            self._after.setdefault(above, []).append(key)
        return key


def _key(graph: GraphContent, keys: dict[str, _Key]) -> _Key:
    return keys.get(graph.compile_id, ("", graph.compile_id, 0))


def _numbered(frames: Iterable[FrameContent]) -> Iterator[_Key]:
    seen: dict[tuple[str, str], int] = {}
    for frame in frames:
        of = frame.function, frame.where
        seen[of] = seen.get(of, -1) + 1
        yield (*of, seen[of])
