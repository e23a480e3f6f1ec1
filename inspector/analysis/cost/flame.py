"""Which calls a graph's FLOPs, bytes and time come from: a tree from the user's own line down to operators and kernels.

FLOPs belong to FX nodes, and so to one line each. Bytes and time belong to launches: a launch whose nodes come from
several lines stands below the innermost call that led to all of them, so that nothing is divided by a guess. The root
is what `show flops --by line` and `show traffic` add up to.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from inspect_compile.analysis.cost.flops import operator
from inspect_compile.analysis.cost.rollup import Costs
from inspect_compile.analysis.cost.roofline import Bounds, roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.kernels.launch_times import measured
from inspect_compile.facts import Location
from inspect_compile.graph import CompiledGraph, Graphs, Id
from inspect_compile.knowledge.cost.sure import ESTIMATED, sure_of
from inspect_compile.knowledge.cost.units import BYTES, FLOPS, TIME, Of
from inspect_compile.knowledge.frontend.own_code import is_library

BOTH: Final = "measured and estimated"

GRAPH: Final = "graph"
LINE: Final = "line"
LINES: Final = "lines"
OPERATOR: Final = "operator"
KERNEL: Final = "kernel"


class FlameRow(msgspec.Struct, frozen=True, tag_field="fact", tag="flame"):
    """One call on the way from the program to what runs. `show flame --json` prints these, callers first."""

    graph: str
    """The outermost graph."""
    of: str
    """time (seconds of one call of the graph), bytes, or flops."""
    depth: int
    kind: str
    """graph, line, lines (of one kernel), operator (of FLOPs) or kernel (of bytes and time)."""
    name: str
    """The graph's name, `model.py:12`, `aten.mm`, or the kernel's name; empty for several lines."""
    lines: tuple[Location, ...]
    """The line, or the lines that one kernel comes from."""
    through: tuple[Location, ...]
    """Calls of libraries between the row above and this one, each of which does nothing but call the next."""
    value: float
    """Of everything below it; a whole number of bytes and FLOPs."""
    own: float
    """The part of `value` that has no row below."""
    share: float
    """Share of the graph's value, between 0 and 1."""
    sure: str
    """Of time: measured, timed a few times, estimated (the least time by the roofline), or measured and estimated; else
    empty.
    """
    nodes: tuple[str, ...]
    """FX nodes below it; a node of a nested graph is prefixed with the graph's name."""
    launches: tuple[int, ...] = ()
    """Of a kernel the line numbers of its launches in output_code.py."""


class _Piece(NamedTuple):
    """What is put into the tree at once: an FX node's FLOPs, or a launch."""

    kind: str
    name: str
    value: float
    chains: tuple[tuple[Location, ...], ...]
    """The calls that led to each of its nodes, outermost first."""
    nodes: tuple[str, ...]
    launch: int | None = None
    timed: int | None = None
    """Of how many calls its time is the median; None if it is not one that was measured."""


class _Call:
    """A place in the tree."""

    def __init__(self, kind: str, name: str, lines: tuple[Location, ...] = ()) -> None:
        self.kind, self.name, self.lines = kind, name, lines
        self.launches: list[int] = []
        self.value: float = 0
        self.measured: float = 0
        self.timed: int | None = None
        self.nodes: dict[str, None] = {}
        self.below: dict[object, _Call] = {}

    def add(self, piece: _Piece) -> None:
        self.value += piece.value
        if piece.timed is not None:
            self.measured += piece.value
            self.timed = piece.timed if self.timed is None else min(self.timed, piece.timed)
        self.nodes.update(dict.fromkeys(piece.nodes))

    def called(self, key: object, kind: str, name: str, lines: tuple[Location, ...] = ()) -> "_Call":
        return self.below.setdefault(key, _Call(kind, name, lines))


def flame(graph: CompiledGraph, of: Of) -> list[FlameRow]:
    """The tree of an outermost graph, callers before what they call, the widest first; empty if nothing is known."""
    pieces = list(_operators(graph) if of == FLOPS else _launches(graph, of))
    if not pieces:
        return []
    root = _Call(GRAPH, graph.name)
    for piece in pieces:
        _put(root, piece)
    return list(_rows(root, graph.name, of, 0, root.value, ()))


def flames(graphs: Graphs, of: Of | None = None) -> Iterator[FlameRow]:
    """The trees of all graphs, or of one."""
    for found in graphs:
        yield from flame(found, of or width_of(found))


def width_of(graph: CompiledGraph) -> Of:
    """What is shown if nothing else is asked for: time where it is known, else bytes."""
    return TIME if roof_of(graph.dump) is not None or measured(graph) else BYTES


def folded(rows: Iterable[FlameRow]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Each way from a graph to what has no row below, with what it has by itself: whole numbers, nanoseconds of time.

    Calls are named `function (file:line)`. Ways that are called the same are one.
    """
    sums: dict[tuple[str, ...], float] = {}
    above: list[tuple[str, ...]] = []
    for row in rows:
        del above[row.depth :]
        names = (*(_frame_name(one) for one in row.through), _name(row))
        above.append((*(above[-1] if above else ()), *names))
        if row.own:
            sums[above[-1]] = sums.get(above[-1], 0) + row.own * (1e9 if row.of == TIME else 1)
    for way, value in sums.items():
        yield way, round(value)


def _name(row: FlameRow) -> str:
    return " ".join(map(_frame_name, row.lines)) or row.name


def _frame_name(where: Location) -> str:
    place = f"{where.file.rpartition('/')[2]}:{where.line}"
    return f"{where.function} ({place})" if where.function else place


def _operators(graph: CompiledGraph) -> Iterator[_Piece]:
    for item in Costs(graph).items:
        if item.row.flops:
            yield _Piece(OPERATOR, operator(item.row.target), item.row.flops, (_calls(item.where),), (item.key,))


def _launches(graph: CompiledGraph, of: Of) -> Iterator[_Piece]:
    moved = graph.traffic
    times = measured(graph)
    bounds: dict[tuple[str, str, int | None], Bounds] = {}
    if of == TIME and (roof := roof_of(graph.dump)) is not None:
        bounds = {(row.graph, row.kernel, row.line): row for row in roofline(graph, roof)}
    for launch in moved.launches:
        key = launch.key
        took = times.get(key)
        value: float
        if of == BYTES:
            value = moved.of(launch).least
        elif took is not None:
            value = took.milliseconds / 1e3
        else:
            value = bounds[key].least_seconds if key in bounds else 0
        if not value:
            continue
        nested = launch.graph.removeprefix(graph.name).strip("/")
        known = [moved.groups.nodes.get(Id(launch.graph, name)) for name in launch.nodes]
        chains = {_places(calls): calls for node in known if node is not None and (calls := _calls(node.where))}
        nodes = tuple(f"{nested}/{name}" if nested else name for name in launch.nodes)
        yield _Piece(
            KERNEL,
            launch.kernel.name,
            value,
            tuple(chains.values()),
            nodes,
            launch.line,
            took.timed if of == TIME and took is not None else None,
        )


def _calls(where: Location | None) -> tuple[Location, ...]:
    """From the outermost of the user's own lines inwards; all calls if none of them is the user's."""
    calls = () if where is None else tuple(where.calls())[::-1]
    own = next((index for index, one in enumerate(calls) if not is_library(one.file)), 0)
    return calls[own:]


def _places(calls: Iterable[Location]) -> tuple[tuple[str, int, str], ...]:
    return tuple((one.file, one.line, one.function) for one in calls)


def _put(root: _Call, piece: _Piece) -> None:
    """Add a piece to all calls that lead to it."""
    at = root
    at.add(piece)
    first = piece.chains[0] if piece.chains else ()
    shared = len(first)
    for calls in piece.chains[1:]:
        same = (one == other for one, other in zip(_places(first), _places(calls), strict=False))
        shared = min(shared, len(calls), next((index for index, is_same in enumerate(same) if not is_same), shared))
    for where, place in zip(first[:shared], _places(first[:shared]), strict=True):
        at = at.called(place, LINE, f"{where.file.rpartition('/')[2]}:{where.line}", (where,))
        at.add(piece)
    rest = {_places(calls[shared : shared + 1]): calls[shared] for calls in piece.chains if len(calls) > shared}
    if rest:
        lines = tuple(sorted(rest.values(), key=lambda one: (one.file, one.line)))
        at = at.called(_places(lines), LINES, "", lines)
        at.add(piece)
    at = at.called(piece.name, piece.kind, piece.name)
    at.add(piece)
    if piece.launch is not None:
        at.launches.append(piece.launch)


def _rows(
    call: _Call, graph: str, of: str, depth: int, total: float, through: tuple[Location, ...]
) -> Iterator[FlameRow]:
    below = sorted(call.below.values(), key=lambda one: -one.value)
    if len(below) == 1 and call.kind == LINE and below[0].kind in (LINE, LINES) and is_library(call.lines[0].file):
        yield from _rows(below[0], graph, of, depth, total, (*through, *call.lines))
        return
    sure = ""
    if of == TIME:
        sure = sure_of(call.timed or 0) if call.measured == call.value else ESTIMATED if not call.measured else BOTH
    yield FlameRow(
        graph=graph,
        of=of,
        depth=depth,
        kind=call.kind,
        name=call.name,
        lines=call.lines,
        through=through,
        value=call.value,
        own=0 if below else call.value,
        share=call.value / total if total else 0.0,
        sure=sure,
        nodes=tuple(call.nodes),
        launches=tuple(call.launches),
    )
    for one in below:
        yield from _rows(one, graph, of, depth + 1, total, ())
