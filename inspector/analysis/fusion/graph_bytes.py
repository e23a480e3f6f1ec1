"""Bytes of a graph's kernels: what fusion saved, and what separate kernels that share a buffer cost."""

from collections.abc import Iterable, Iterator

import msgspec

from inspect_compile.analysis.cost.launch_origins import WHAT, By, LaunchOrigins, lines_of
from inspect_compile.analysis.fusion.misses import UNFUSABLE, Miss, misses
from inspect_compile.facts import Location
from inspect_compile.graph import CompiledGraph, Graphs, Id, gathered, outermost
from inspect_compile.graph.cost.buffer_traffic import BufferTraffic
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic, LaunchTraffic
from inspect_compile.graph.kernels.launches import Launch


class GraphBytes(msgspec.Struct, frozen=True, tag_field="fact", tag="graph_bytes"):
    """One graph, nested graphs included, in bytes. `show traffic --json` prints these after the graph's launches."""

    graph: str
    moved: int
    """Bytes of all launches, each element of a buffer once per launch."""
    generated: int
    """Bytes of all loads and stores of their loops, as if there were no cache."""
    least: int
    """Bytes if the graph were one kernel: each input that is read, and each output, once."""
    unfused: int
    """Bytes if every scheduler node before fusion were a separate kernel."""
    missed: int
    """The part of `moved` that refused or untried fusions cost, at most: not all of them are possible together."""
    at_calls: int
    """The same for pairs that are separate because a library is called."""
    is_symbolic: bool
    unknown: int = 0
    """Launches whose bytes are not fully known; the known part is in the sums."""

    @property
    def saved(self) -> int:
        """Bytes that fusion saved."""
        return self.unfused - self.moved


class TrafficSum(msgspec.Struct, frozen=True, tag_field="fact", tag="traffic_sum"):
    """All launches of one kernel, line, module or operator. `show traffic --by … --json` prints these."""

    graph: str
    by: By
    what: tuple[str, ...]
    """Several if one kernel moves bytes for several: its bytes are not divided."""
    launches: int
    read: int
    written: int
    read_as_generated: int
    written_as_generated: int
    unsure: int
    share: float
    """Share of the bytes that the graph's launches read and write."""
    unknown: int = 0
    """See `GraphBytes.unknown`."""
    is_symbolic: bool = False
    """True if a size is symbolic: the bytes are those at the hints."""
    is_read_unsure: bool = False
    """True if `read` is an upper bound, because it depends on values."""
    is_written_unsure: bool = False
    """True if `written` is an upper bound."""
    lines: tuple[Location, ...] = ()
    """Of sums by line, the lines of `what` with the calls that led to them."""

    @property
    def is_known(self) -> bool:
        """True if the bytes of all launches are fully known."""
        return not self.unknown

    @property
    def least(self) -> int:
        """Bytes read and written, each element once per launch."""
        return self.read + self.written

    @property
    def generated(self) -> int:
        """Bytes read and written at every point of the loops."""
        return self.read_as_generated + self.written_as_generated


def traffic_rows(graphs: Graphs, by: By | None = None) -> Iterator[msgspec.Struct]:
    """The rows of `show traffic --json`: launches or their sums, each graph's followed by a row for the graph."""
    for found in graphs:
        yield from (found.traffic.all() if by is None else sums_by(found, by))
        yield graph_bytes(found)


def sums_by(graph: CompiledGraph, by: By) -> list[TrafficSum]:
    """The bytes of the launches of `graph`, summed up; most bytes first."""
    counted, origins = graph.traffic, LaunchOrigins(graph.dump)
    found = [(counted.of(launch), origins.of(launch)) for launch in counted.launches]
    lines = {WHAT[by](origin): lines_of(by, origin) for _, origin in reversed(found)}
    sums = _sums(by, ((row, WHAT[by](origin)) for row, origin in found))
    return [msgspec.structs.replace(row, lines=lines[row.what]) for row in sums]


def graph_bytes(graph: CompiledGraph) -> GraphBytes:
    """The bytes of `graph`."""
    found = graph.traffic
    rows = found.all()
    refused, at_calls = _missed(graph, found, rows)
    unfused = sum(buffer.read + buffer.written for row in graph.operations for buffer in found.groups.alone(row).rows())
    return GraphBytes(
        graph.name,
        found.moved,
        sum(row.generated for row in rows),
        found.least,
        unfused or found.moved,
        refused,
        at_calls,
        any(row.is_symbolic for row in rows),
        found.unknown,
    )


def _sums(by: By, launches: Iterable[tuple[KernelTraffic, tuple[str, ...]]]) -> list[TrafficSum]:
    """Sums over `launches`, each given with what it belongs to; most bytes first."""
    rows = gathered((what, row) for row, what in launches)
    total = sum(row.least for own in rows.values() for row in own) or 1
    found = [
        TrafficSum(
            outermost(own[0].graph),
            by,
            what,
            len(own),
            sum(row.read for row in own),
            sum(row.written for row in own),
            sum(row.read_as_generated for row in own),
            sum(row.written_as_generated for row in own),
            sum(row.unsure for row in own),
            sum(row.least for row in own) / total,
            sum(not row.is_known for row in own),
            any(row.is_symbolic for row in own),
            any(row.is_read_unsure for row in own),
            any(row.is_written_unsure for row in own),
        )
        for what, own in rows.items()
    ]
    return sorted(found, key=lambda row: -row.least)


def _missed(graph: CompiledGraph, found: LaunchTraffic, rows: list[KernelTraffic]) -> tuple[int, int]:
    """Bytes moved again because pairs are separate: those that fusion could have joined, and those at library calls."""
    pairs: tuple[list[Miss], list[Miss]] = [], []
    for ledger in graph.ledgers:
        for miss in misses(graph.other(ledger.graph)):
            if not miss.one_kernel:
                pairs[miss.code == UNFUSABLE].append(miss)
    launches: dict[Id, int] = {}
    for place, launch in enumerate(found.launches):
        launches.update((Id(launch.graph, group), place) for group in launch.groups)
    outputs = {Id(row.graph, buffer) for row in graph.groups if "OUTPUT" in row.users for buffer in row.buffers}
    users = _users(found.launches, rows)
    return _again(pairs[0], launches, rows, users, outputs), _again(pairs[1], launches, rows, users, outputs)


def _users(launches: list[Launch], rows: list[KernelTraffic]) -> dict[Id, set[int]]:
    found: dict[Id, set[int]] = {}
    for place, (launch, row) in enumerate(zip(launches, rows, strict=True)):
        for buffer in row.buffers:
            found.setdefault(Id(launch.graph, buffer.buffer), set()).add(place)
    return found


def _again(
    pairs: list[Miss], launches: dict[Id, int], rows: list[KernelTraffic], users: dict[Id, set[int]], outputs: set[Id]
) -> int:
    """For each buffer, the bytes that the launches of the pairs move, less what a single launch would move."""
    linked: dict[Id, list[tuple[int, int]]] = {}
    for miss in pairs:
        one, other = launches.get(Id(miss.graph, miss.a)), launches.get(Id(miss.graph, miss.b))
        if one is not None and other is not None and one != other:
            for buffer in miss.buffers:
                linked.setdefault(Id(miss.graph, buffer), []).append((one, other))
    total = 0
    for key, links in linked.items():
        for members in _connected(links):
            touched = [buffer for place in members for buffer in rows[place].buffers if buffer.buffer == key[1]]
            is_inner = key not in outputs and users.get(key, members) <= members
            total += max(0, sum(buffer.read + buffer.written for buffer in touched) - _as_one(touched, is_inner))
    return total


def _as_one(touched: list[BufferTraffic], is_inner: bool) -> int:
    written = max((buffer.written for buffer in touched), default=0)
    if written:
        return 0 if is_inner else written
    return max((buffer.read for buffer in touched), default=0)


def _connected(links: list[tuple[int, int]]) -> Iterable[set[int]]:
    above: dict[int, int] = {}

    def root(place: int) -> int:
        while above.setdefault(place, place) != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for one, other in links:
        above[root(one)] = root(other)
    found: dict[int, set[int]] = {}
    for place in above:
        found.setdefault(root(place), set()).add(place)
    return found.values()
