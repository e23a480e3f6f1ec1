"""What a graph costs: the modes of the view, each with its own table."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from textwrap import wrap
from typing import Final, TypeVar

from inspect_compile.analysis.cost.flame import KERNEL, FlameRow
from inspect_compile.analysis.cost.flame import flame as flame_of
from inspect_compile.analysis.cost.flop_rows import FlopRow, flop_rows
from inspect_compile.analysis.cost.flops import graph_flops, modules_around, operator
from inspect_compile.analysis.cost.rollup import Cost, Costs
from inspect_compile.analysis.cost.roofline import Bounds
from inspect_compile.analysis.cost.roofline import roofline as bounds_of
from inspect_compile.analysis.cost.roofline_plot import plot
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.runtime.measured import measured_graph
from inspect_compile.dump import Dump
from inspect_compile.graph.cost.kernel_traffic import KernelTraffic
from inspect_compile.graph.provenance.chain import Line
from inspect_compile.knowledge.cost.units import OF, Of
from inspect_compile.tables.columns import Column, cell, used
from inspect_compile.tables.columns import Row as Record
from inspect_compile.tables.cost.flame import COLUMNS as CALLS
from inspect_compile.tables.cost.flame import notes_of
from inspect_compile.tables.cost.flops import APP_COLUMNS, SUMS, UNCOUNTED, app_share
from inspect_compile.tables.cost.roofline import COLUMNS, bound_notes, no_roof_text, roof_text
from inspect_compile.tables.cost.roofline_plot import plot_lines
from inspect_compile.tables.cost.traffic import LAUNCHES, all_moved_text, moved_notes
from inspect_compile.tables.runtime.measured import LAUNCHES as LAUNCH_TIMES
from inspect_compile.tables.runtime.measured import NOT_MEASURED, times_text
from inspect_compile.tables.text import BAR, bar_text, places_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.sheet import Panel, Row, Shown, Subject, Table

Launched = TypeVar("Launched", KernelTraffic, Bounds)

_WIDTH, _HEIGHT = 72, 16
_NARROW: Final = 44
"""Columns of the list in the narrowest pane, of three beside each other."""


def with_bar(
    columns: Sequence[Column[Record]],
    share: Callable[[Record], float],
    role: Callable[[Record], str] = lambda row: "bar",
) -> list[Column[Record]]:
    """`columns` with a bar for the share behind the column that tells it."""
    at = next(index for index, column in enumerate(columns) if column.title == "share") + 1
    bar: Column[Record] = Column("", lambda row: cell(bar_text(share(row)), role(row)), most=BAR, drop=2)
    return [*columns[:at], bar, *columns[at:]]


_FLOPS: Final = with_bar(APP_COLUMNS, app_share, lambda row: "bar" if row.is_operator else "bar-module")
_TRAFFIC: Final = with_bar(LAUNCHES, lambda row: row.share or 0.0)
_ROOFLINE: Final = with_bar(COLUMNS, lambda row: row.share)


def flops(dump: Dump, chain: Chain) -> Table:
    """The tree of the chain's graph; then what has no count, and what computes nothing."""
    found = graph_flops(chain.compiled)
    members = _Members(chain)
    rows = [row for row in flop_rows(found) if row.count or not row.is_operator]
    after: list[Row] = []
    for title, counts in (
        *((f"not counted: {UNCOUNTED.get(why, why)}", counts) for why, counts in found.uncounted.items()),
        ("computes nothing", found.free),
    ):
        if counts:
            after.append(Row.title(f"title {title}", title))
            for name, count in counts.items():
                cells = (cell(f"  {name}", "dim"), cell(f"{count}×", "dim"), (), ())
                after.append(Row(f"{title} {name}", cells, members.of_operator_anywhere(name)))
    keys = [f"{row.module} {row.name}" if row.is_operator else f"module {row.module}" for row in rows]
    return Table.of(_FLOPS, rows, keys, [members.of(row) for row in rows], after)


class _Members:
    """The nodes of a module including submodules, and of one operator in one module."""

    def __init__(self, chain: Chain) -> None:
        self._modules: dict[str, list[str]] = {}
        self._operators: dict[tuple[str, str], list[str]] = {}
        for node in chain.nodes:
            if node.op != "call_function":
                continue
            key, path = chain.key(node.graph, node.name), node.module
            self._operators.setdefault((path, operator(node.target)), []).append(key)
            for module in ("", *modules_around(path)):
                self._modules.setdefault(module, []).append(key)

    def of(self, row: FlopRow) -> Subject | None:
        """What a row of the tree stands for."""
        path = row.module
        if not row.is_operator:
            return _nodes(self._modules.get(path, ()), path or "the whole graph", is_sum=True)
        return _nodes(self._operators.get((path, row.name), ()), f"{row.name} in {path}" if path else row.name)

    def of_operator_anywhere(self, name: str) -> Subject | None:
        return _nodes([key for (_, found), keys in self._operators.items() if found == name for key in keys], name)


def _nodes(names: Iterable[str], label: str, *, is_sum: bool = False) -> Subject | None:
    found = tuple(names)
    return Subject("node", found, label, is_sum=is_sum) if found else None


def costs(by: str, dump: Dump, chain: Chain) -> Table:
    """One row for each operator, line or launch, as from `Costs.by`."""
    rows = Costs(chain.compiled).by(by)
    columns = used(with_bar(SUMS[by], lambda row: row.share), rows)
    positions = launch_positions(chain)
    keys = [f"{by} {row.name} {row.line}" for row in rows]
    return Table.of(columns, rows, keys, [_subject(row, chain, positions) for row in rows])


def _subject(cost: Cost, chain: Chain, positions: dict[tuple[str, int | None], int]) -> Subject | None:
    if cost.by == "kernel":
        position = positions.get((cost.name, cost.line))
        return None if position is None else chain.of_launch(position, cost.line)
    if cost.where is not None:
        return chain.of_line(Line.of(cost.where))
    return Subject("node", cost.nodes, cost.name or "no line") if cost.nodes else None


def traffic(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, in code order; then the effect of fusion on the bytes."""
    sums = graph_bytes(chain.compiled)
    rows = chain.compiled.traffic.all()
    return _table("traffic", _TRAFFIC, rows, chain, _notes("note", [all_moved_text(sums), *moved_notes(sums)]))


def roofline(dump: Dump, chain: Chain) -> Table:
    """One row for each launch, longest time first; then the plot."""
    roof = roof_of(dump)
    if roof is None:
        return Table(_ROOFLINE, _notes("none", [no_roof_text(dump)]))
    found = sorted(bounds_of(chain.compiled, roof), key=lambda row: -row.least_seconds)
    drawn = plot(found, roof)
    lines = [text.plain for text in plot_lines(drawn, _WIDTH, _HEIGHT)] if drawn.points else []
    notes = _notes("roof", [roof_text(roof), *bound_notes(found, roof)])
    return _table("roofline", _ROOFLINE, found, chain, [*notes, *_headings("plot", lines)])


def measured(dump: Dump, chain: Chain) -> Table:
    """One row for each launch that was timed, in code order, with the least time by the roofline beside it."""
    found = measured_graph(chain.compiled)
    if found is None:
        return Table(LAUNCH_TIMES, _notes("none", [NOT_MEASURED]))
    at = launch_positions(chain)
    subjects = []
    for row in found.launches:
        position = at.get((chain.key(row.graph, row.what[0]), row.line))
        subjects.append(None if position is None else chain.of_launch(position, row.line))
    keys = [f"measured {row.what[0]} {row.line}" for row in found.launches]
    return Table.of(LAUNCH_TIMES, found.launches, keys, subjects, _notes("sum", [times_text(found)]))


def flame(of: Of, dump: Dump, chain: Chain) -> Table:
    """The tree from the user's own lines to what runs."""
    rows = flame_of(chain.compiled, of)
    notes = _notes("note", notes_of(rows, of))
    ways: list[str] = []
    keys: list[str] = []
    for row in rows:
        places = " ".join(f"{one.file}:{one.line}" for one in (*row.through, *row.lines))
        ways[row.depth :] = [f"{row.name} {places}"]
        keys.append("; ".join(ways))
    at = launch_positions(chain)
    return Table.of(used(CALLS, rows), rows, keys, [_of_call(row, chain, at) for row in rows], notes)


def _of_call(row: FlameRow, chain: Chain, at: dict[tuple[str, int | None], int]) -> Subject | None:
    if row.kind == KERNEL:
        position = at.get((row.name, row.launches[0] if row.launches else None))
        return None if position is None else chain.of_launch(position, *row.launches)
    if len(row.lines) == 1:
        return chain.of_line(Line.of(row.lines[0]))
    return _nodes(row.nodes, places_text((one.file, str(one.line)) for one in row.lines) or row.name)


def _table(
    key: str, columns: Sequence[Column[Launched]], rows: Sequence[Launched], chain: Chain, after: Sequence[Row]
) -> Table:
    at = launch_positions(chain)
    positions = [at.get((chain.key(row.graph, row.kernel), row.line)) for row in rows]
    subjects = [
        None if position is None else chain.of_launch(position, row.line)
        for position, row in zip(positions, rows, strict=True)
    ]
    return Table.of(used(columns, rows), rows, [f"{key} {row.kernel} {row.line}" for row in rows], subjects, after)


def _notes(key: str, notes: Iterable[str]) -> list[Row]:
    """Sentences, in as many rows as a narrow pane needs."""
    return _headings(key, [line for note in notes for line in wrap(note, _NARROW) or [""]])


def _headings(key: str, words: Iterable[str]) -> list[Row]:
    return [Row.title(f"{key} {number}", line, "dim") for number, line in enumerate(words)]


def launch_positions(chain: Chain) -> dict[tuple[str, int | None], int]:
    """Kernel and line of each launch → the kernel's position in `chain.kernels`."""
    return {
        (chain.key(kernel.graph, kernel.name), line): position
        for position, kernel in enumerate(chain.kernels)
        for line in kernel.launches or (None,)
    }


PARTS: Final[dict[str, Callable[[Dump, Chain], Table]]] = {
    "modules": flops,
    "operators": partial(costs, "op"),
    "kernels": partial(costs, "kernel"),
    "lines": partial(costs, "line"),
    "bytes": traffic,
    "roofline": roofline,
    "measured": measured,
    **{f"flame {of}": partial(flame, of) for of in OF},
}
"""Mode of the view → its table."""

_OF_FLOPS: Final = frozenset({"modules", "operators", "kernels", "lines"})
_NO_FLOPS: Final = "No node of this graph has FLOPs that are counted, such as a matmul or a convolution."


def cost(dump: Dump, chain: Chain, mode: str) -> Shown[Table]:
    """The table of a mode."""
    return Shown(PARTS[mode](dump, chain), empty=_NO_FLOPS if mode in _OF_FLOPS else "")


PANEL: Final = Panel(cost, tuple(PARTS), follow="fx")
