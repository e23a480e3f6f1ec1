"""Bytes that kernels read and write, by launch, kernel, line, module or operator; and the effect of fusion on them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.cost.kernel_traffic import KernelTraffic, LaunchTraffic, launch_traffic
from inspect_compile.analysis.cost.launch_origins import WHAT, LaunchOrigins
from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.fusion.graph_bytes import By, GraphBytes, TrafficSum, graph_bytes, sums
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.tables.cost.moved_text import AT_HINTS, UNKNOWN, moved_text
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import byte_text, file_name, number_of, one_line, share_text

if TYPE_CHECKING:
    import msgspec

    from inspect_compile.dump import Dump

_BYTES: Final = (
    Column("reads", right=True),
    Column("writes", right=True),
    Column("as generated", right=True, least=80),
    Column("", right=True, least=90),
)
_LAUNCH: Final = (
    Column("kernel", cap=0.4),
    Column("line", right=True),
    *_BYTES,
    Column("largest buffers", flex=True, least=110),
)
_DEAREST: Final = 3


def traffic(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    by: By | None = None,
) -> RenderableType:
    """One sheet a graph."""
    sheets: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        counted, told = launch_traffic(dump, found.graph), graph_bytes(dump, found.graph)
        notes: list[Cell] = [styled(line, "dim") for line in _story(told)]
        if by is None:
            rows = [row for row in counted.all() if matches(row, names)]
            cells = [_launch(row) for row in rows]
        else:
            own = [row for row in _sums(dump, counted, by) if matches(row, names) or _has(row, names)]
            cells = [_sum(row, told.is_symbolic) for row in own]
        shown = cells if limit is None else cells[:limit]
        if len(cells) > len(shown):
            which = ("--graph", found.graph) if graph is not None else ()
            how = ("--by", by) if by is not None else ()
            notes.insert(
                0, more(len(cells) - len(shown), command(dump_argument, "traffic", *names, *how, *which, "--all"))
            )
        columns = _LAUNCH if by is None else (Column(by, cap=0.5, flex=True), Column("calls", right=True), *_BYTES)
        sheets.append(Sheet(columns, shown, title=title(found, _head(told)), notes=notes))
    return Stack(sheets or [styled(nothing_text(dump), style="dim")])


def traffic_rows(dump: "Dump", graph: str | None, by: By | None = None) -> "Iterator[msgspec.Struct]":
    """The same for programs: launches or their sums, each graph's followed by a row for the graph."""
    for found in graphs_of(dump, graph):
        counted = launch_traffic(dump, found.graph)
        yield from counted.all() if by is None else _sums(dump, counted, by)
        yield graph_bytes(dump, found.graph)


def _sums(dump: "Dump", counted: LaunchTraffic, by: By) -> list[TrafficSum]:
    origins = LaunchOrigins(dump)
    return sums(by, ((counted.of(launch), WHAT[by](origins.of(launch))) for launch in counted.launches))


def _has(row: TrafficSum, names: tuple[str, ...]) -> bool:
    return all(any(name in what for what in row.what) for name in names)


def _head(told: GraphBytes) -> str:
    moved = None if told.unknown and not told.moved else told.moved
    return f"{moved_text(moved, is_symbolic=told.is_symbolic)} read and written by its kernels"


def _story(told: GraphBytes) -> Iterator[str]:
    if told.unknown:
        launches = number_of(told.unknown, "launch", "launches")
        yield f"{UNKNOWN} not known of {launches}, of which only what is known stands in the sums"
    if told.unfused > told.moved:
        share = share_text(told.saved / told.unfused)
        yield f"fusion saved {byte_text(told.saved)} of {byte_text(told.unfused)} ({share}), op by op"
    if told.missed:
        yield f"pairs that were refused still cost up to {byte_text(told.missed)}: show fusion"
    if told.at_calls:
        yield f"library calls that stand between loops cost up to {byte_text(told.at_calls)}"
    yield f"a single kernel would move {byte_text(told.least)}: inputs and outputs"
    if told.is_symbolic:
        yield f"{AT_HINTS} sizes are symbols: at their hints"


def _launch(row: KernelTraffic) -> list[Cell]:
    dearest = [f"{one.buffer} {byte_text(one.read + one.written)}" for one in row.buffers[:_DEAREST]]
    return [
        row.kernel,
        str(row.line or ""),
        *_figures(row, is_symbolic=row.is_symbolic),
        styled("  ".join(dearest), "dim"),
    ]


def _sum(row: TrafficSum, is_symbolic: bool) -> list[Cell]:
    return [what_text(row.by, row.what), f"{row.launches:,}", *_figures(row, is_symbolic=is_symbolic)]


def _figures(row: KernelTraffic | TrafficSum, *, is_symbolic: bool) -> list[Cell]:
    least = row.read + row.written
    generated = row.read_as_generated + row.written_as_generated
    times = f"{generated / least:.2g}×" if least and generated > least else ""
    is_known = row.is_known if isinstance(row, KernelTraffic) else not row.unknown
    if not is_known:
        return [UNKNOWN, UNKNOWN, UNKNOWN, ""]
    is_written_unsure = row.is_written_unsure if isinstance(row, KernelTraffic) else row.unsure > row.read
    return [
        moved_text(row.read, is_unsure=bool(row.unsure and row.read), is_symbolic=is_symbolic),
        moved_text(row.written, is_unsure=is_written_unsure, is_symbolic=is_symbolic),
        moved_text(generated, is_symbolic=is_symbolic),
        styled(times, "yellow" if least and generated > 2 * least else "dim"),
    ]


def what_text(by: str, what: tuple[str, ...]) -> str:
    """The lines, modules, operators or kernel that a sum is for."""
    if by == "line":
        files: dict[str, list[str]] = {}
        for place in what:
            path, _, number = place.rpartition(":")
            files.setdefault(file_name(path), []).append(number)
        return "  ".join(f"{name}:{' '.join(numbers)}" for name, numbers in files.items()) or "(no line)"
    if by == "module":
        return " ".join(one_line(name) or "(top)" for name in what) or "(none)"
    return " ".join(one_line(name).removeprefix("aten.") if by == "op" else one_line(name) for name in what) or "(none)"
