"""What torch's autotuning chose from: a sheet for each tuned operation and kernel."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.kernels.autotuning import Autotuned, Option, autotuned
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.tables.kernels.autotune_text import (
    margin_text,
    option_text,
    outcome_text,
    question_text,
    time_text,
)
from inspect_compile.tables.parts import command, more, title
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import byte_text, clean, number_of, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS: Final = (
    Column(""),
    Column("choice", cap=0.3),
    Column("kind", least=90),
    Column("time", right=True, cap=0.3),
    Column("×", right=True),
    Column("registers", right=True, least=110),
    Column("spills", right=True, least=110),
    Column("occupancy", right=True, least=120),
    Column("configuration", flex=True, least=100),
)
_WINNER: Final = "✓"


def autotune(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """The sheets, each with at most `limit` candidates."""
    parts: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        sheets = [row for row in autotuned(dump, found.graph) if matches(row, names)]
        told = [number_of(len(sheets), "decision") if sheets else "nothing was autotuned"]
        if sheets and (seconds := sum(row.seconds or 0.0 for row in sheets)):
            told.append(f"{seconds_text(seconds)} spent on benchmarking")
        if names and not sheets:
            told = [f"nothing that was autotuned concerns {' and '.join(names)}"]
        parts.append(title(found, *told))
        parts += [sheet(row, limit, dump_argument) for row in sheets]
    return Stack(parts or [styled(nothing_text(dump), style="dim")])


def sheet(row: Autotuned, limit: int | None = None, dump_argument: str = "") -> Sheet:
    """The sheet of one tuning decision."""
    shown = row.choices if limit is None else row.choices[:limit]
    notes: list[Cell] = [joined(("  ", ""), (clean(line), "dim")) for line in (margin_text(row), *outcome_text(row))]
    if len(row.choices) > len(shown):
        notes.append(
            more(len(row.choices) - len(shown), command(dump_argument, "autotune", row.kernel or row.name, "--all"))
        )
    head = joined((clean(one_line(question_text(row))), "bold"), one_line=True)
    return Sheet(_COLUMNS, _cells(shown), title=head, notes=notes)


def _cells(options: tuple[Option, ...]) -> Iterator[list[Cell]]:
    for row in options:
        style = "green" if row.is_winner else "" if row.milliseconds is not None else "dim"
        yield [
            styled(_WINNER if row.is_winner else "", style),
            styled(one_line(f"{row.label} {row.step}".rstrip()), style),
            row.kind,
            styled(time_text(row), style),
            "" if row.times is None else f"{row.times:.2f}",
            "" if row.registers is None else str(row.registers),
            "" if row.spills is None else styled(byte_text(row.spills), "yellow" if row.spills else ""),
            "" if row.occupancy is None else f"{row.occupancy:.0%}".replace("%", " %"),
            option_text(row),
        ]
