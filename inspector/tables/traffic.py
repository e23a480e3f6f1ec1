"""Bytes that kernels read and write: by launch, or by kernel, line, module or operator; and what fusion did to them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.about import concerns
from inspect_compile.analysis.attributed_time import Stories
from inspect_compile.analysis.graph_bytes import By, GraphBytes, TrafficSum, graph_bytes, sums
from inspect_compile.analysis.graphs import graphs_of
from inspect_compile.analysis.kernel_traffic import KernelTraffic, LaunchTraffic
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import byte_text, file_name, one_line, share_text

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
    Column("dearest buffers", flex=True, least=110),
)
_DEAREST: Final = 3
_AT_HINTS: Final = "~"


def traffic(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    said: str = "",
    by: By | None = None,
) -> RenderableType:
    """One sheet a graph."""
    sheets: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        counted = LaunchTraffic(dump, found.graph)
        told = graph_bytes(dump, found.graph, counted)
        notes: list[Cell] = [styled(line, "dim") for line in _story(told)]
        if by is None:
            rows = [row for row in counted.all() if concerns(row, names)]
            cells = [_launch(row) for row in rows]
        else:
            own = [row for row in _sums(dump, counted, by) if concerns(row, names) or _has(row, names)]
            cells = [_sum(row, told.is_symbolic) for row in own]
        shown = cells if limit is None else cells[:limit]
        if len(cells) > len(shown):
            which = ("--graph", found.graph) if graph is not None else ()
            how = ("--by", by) if by is not None else ()
            notes.insert(0, more(len(cells) - len(shown), command(said, "traffic", *names, *how, *which, "--all")))
        columns = _LAUNCH if by is None else (Column(by, cap=0.5, flex=True), Column("calls", right=True), *_BYTES)
        sheets.append(Sheet(columns, shown, title=title(found, _head(told)), notes=notes))
    return Stack(sheets or [styled("nothing was compiled", style="dim")])


def traffic_rows(dump: "Dump", graph: str | None, by: By | None = None) -> "Iterator[msgspec.Struct]":
    """The same for programs: launches, or their sums, and behind those of each graph the graph itself."""
    for found in graphs_of(dump, graph):
        counted = LaunchTraffic(dump, found.graph)
        yield from counted.all() if by is None else _sums(dump, counted, by)
        yield graph_bytes(dump, found.graph, counted)


def _sums(dump: "Dump", counted: LaunchTraffic, by: By) -> list[TrafficSum]:
    stories = Stories(dump)

    def what(place: int) -> tuple[str, ...]:
        launch = counted.launches[place]
        if by == "kernel":
            return (launch.kernel.name,)
        story = stories.of(launch)
        if by == "line":
            return tuple(f"{at.file}:{at.line}" for at in story.lines)
        return story.modules if by == "module" else story.operators

    return sums(by, ((row, what(place)) for place, row in enumerate(counted.all())))


def _has(row: TrafficSum, names: tuple[str, ...]) -> bool:
    return all(any(name in what for what in row.what) for name in names)


def _head(told: GraphBytes) -> str:
    return f"{_size(told.moved, is_symbolic=told.is_symbolic)} read and written by its kernels"


def _story(told: GraphBytes) -> Iterator[str]:
    if told.unfused > told.moved:
        share = share_text(told.saved / told.unfused)
        yield f"fusion saved {byte_text(told.saved)} of {byte_text(told.unfused)} ({share}), op by op"
    if told.missed:
        yield f"pairs that were refused still cost up to {byte_text(told.missed)}: show fusion"
    if told.at_calls:
        yield f"library calls that stand between loops cost up to {byte_text(told.at_calls)}"
    yield f"one kernel for all would move {byte_text(told.least)}: inputs and outputs"
    if told.is_symbolic:
        yield f"{_AT_HINTS} sizes are symbols: at their hints"


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
    more_or_less = "≤ " if row.unsure else ""
    return [
        more_or_less + _size(row.read, is_symbolic=is_symbolic),
        _size(row.written, is_symbolic=is_symbolic),
        _size(generated, is_symbolic=is_symbolic),
        styled(times, "yellow" if least and generated > 2 * least else "dim"),
    ]


def _size(count: int, *, is_symbolic: bool) -> str:
    return f"{_AT_HINTS if is_symbolic else ''}{byte_text(count)}"


def what_text(by: str, what: tuple[str, ...]) -> str:
    """The lines, modules, operators or the kernel that a sum is of."""
    if by == "line":
        files: dict[str, list[str]] = {}
        for place in what:
            path, _, number = place.rpartition(":")
            files.setdefault(file_name(path), []).append(number)
        return "  ".join(f"{name}:{' '.join(numbers)}" for name, numbers in files.items()) or "(no line)"
    if by == "module":
        return " ".join(one_line(name) or "(top)" for name in what) or "(none)"
    return " ".join(one_line(name).removeprefix("aten.") if by == "op" else one_line(name) for name in what) or "(none)"
