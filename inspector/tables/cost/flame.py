"""Which calls a graph's time, bytes and FLOPs come from: a tree from the user's own line down to what runs, with bars;
or folded stacks, which flamegraph.pl, inferno and speedscope read.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from inspect_compile.analysis.cost.flame import BOTH, KERNEL, FlameRow, flame, flames, folded, width_of
from inspect_compile.graph import CompiledGraph, few
from inspect_compile.knowledge.cost.sure import ESTIMATED
from inspect_compile.knowledge.cost.units import BYTES, FLOPS, TIME, Of
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.tables.columns import Cell, Column, Span, cell
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block
from inspect_compile.tables.text import (
    BAR,
    bar_text,
    byte_text,
    code_text,
    line_text,
    multiple_text,
    number_of,
    one_line,
    places_text,
    share_text,
    time_text,
)

VALUES: Final[dict[str, Callable[[float], str]]] = {
    TIME: time_text,
    BYTES: lambda value: byte_text(round(value)),
    FLOPS: lambda value: multiple_text(value, "FLOP"),
}
"""Width of a call → its value in words."""
_MOST_LAUNCHES: Final = 3
_TITLES: Final = {TIME: "time", BYTES: "bytes", FLOPS: "FLOPs"}
_NOT_KNOWN: Final = (
    "no time is known: neither was the run measured (`run --measure`), nor is the device's roof known"
    " (`doctor --measure`)"
)


def call_cell(row: FlameRow) -> Cell:
    """Its place in the tree: the user's own lines stand out, and calls that only lead on are a number."""
    spans = [Span(" " * row.depth)]
    if row.through:
        more = f"{number_of(len(row.through) - 1, 'more call')} ▸ " if len(row.through) > 1 else ""
        spans.append(Span(f"{one_line(line_text(row.through[0]))} ▸ {more}", "dim"))
    if not row.lines:
        times = [Span(f" ×{len(row.launches):,}", "dim")] if len(row.launches) > 1 else []
        return (*spans, Span(one_line(row.name), "accent" if row.depth else "title"), *times)
    place = one_line(places_text((one.file, str(one.line)) for one in row.lines))
    spans.append(Span(place, "dim" if all(is_library(one.file) for one in row.lines) else "name"))
    names = dict.fromkeys(one.function for one in row.lines if one.function)
    return (*spans, Span(f" {one_line(' '.join(names))}", "dim")) if names else tuple(spans)


def _code(row: FlameRow) -> str:
    if row.kind == KERNEL:
        lines = [str(line) for line in row.launches]
        return f"output_code.py:{few(lines, _MOST_LAUNCHES, ' ')}" if lines else ""
    return code_text(row.lines[0]) if len(row.lines) == 1 else ""


COLUMNS: Final[tuple[Column[FlameRow], ...]] = (
    Column("call", call_cell, stretch=True, least=28, most=80, middle=True),
    Column("", lambda row: cell(bar_text(row.share), "bar"), most=BAR, drop=2),
    Column("value", lambda row: VALUES[row.of](row.value), right=True),
    Column("share", lambda row: share_text(row.share), role="dim", right=True),
    Column("known", lambda row: row.sure, role="dim", optional=True, drop=3),
    Column("code", _code, role="dim", stretch=True, least=20, most=80, drop=1),
)


def flame_table(request: Request, *, of: Of | None = None) -> Block:
    """One tree a graph."""
    return request.stacked([_sheet(request, graph, of) for graph in request.graphs])


def stack_text(rows: Iterable[FlameRow]) -> str:
    """Folded stacks: `train.py:8 step;…;addmm 4096`, one line for each way."""
    return "".join(f"{';'.join(map(_frame, names))} {value}\n" for names, value in folded(rows))


def _frame(name: str) -> str:
    return one_line(name).replace(";", ",")


def _rows(request: Request, graph: CompiledGraph, of: Of | None) -> list[FlameRow]:
    return request.kept(flame(graph, of or width_of(graph)))


def _sheet(request: Request, graph: CompiledGraph, of: Of | None) -> Block:
    rows = _rows(request, graph, of)
    kind = of or width_of(graph)
    shown = widest(rows, request.limit)
    notes = list(notes_of(rows, kind))
    options = ("--of", kind) if of else ()
    if len(shown) < len(rows):
        notes.insert(0, f"… {len(rows) - len(shown):,} narrower calls   {request.every('flame', *options)}")
    return request.sheet("flame", graph, COLUMNS, shown, total_text(rows, kind), options=options, notes=notes)


def total_text(rows: Sequence[FlameRow], of: str) -> str:
    """`1.2 ms by time`."""
    return f"{VALUES[of](rows[0].value)}, width by {_TITLES[of]}" if rows else ""


def notes_of(rows: Sequence[FlameRow], of: str) -> list[str]:
    """What is to be known of the values."""
    if not rows:
        return [_NOT_KNOWN if of == TIME else "not recorded"]
    notes = ["a kernel of several lines is below the call that led to all of them"] * any(
        len(row.lines) > 1 for row in rows
    )
    if any(row.sure in (ESTIMATED, BOTH) for row in rows):
        notes.append(f"{ESTIMATED}: the least time by the roofline")
    return notes


def widest(rows: Sequence[FlameRow], limit: int | None) -> Sequence[FlameRow]:
    """The widest `limit` rows, in order: a call is never narrower than what it calls, so that none loses its caller."""
    if limit is None or len(rows) <= limit:
        return rows
    kept = sorted(range(len(rows)), key=lambda index: (-rows[index].value, index))[:limit]
    return [rows[index] for index in sorted(kept)]


TABLE: Final = DeclaredTable(flame_table, flames)
