"""What torch's autotuning chose from: a sheet for each tuned operation and kernel."""

from typing import Final

from rich.console import RenderableType

from inspect_compile.analysis.kernels.autotuning import Autotuned, Option, autotuned
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.kernels.autotune_text import (
    margin_text,
    option_text,
    outcome_text,
    question_text,
    time_text,
)
from inspect_compile.tables.parts import Request, command, limited, title
from inspect_compile.tables.styled_text import Stack, indented, joined
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import byte_text, number_of, one_line, seconds_text, share_text


def _tried(row: Option, text: str) -> Cell:
    return cell(text, "good" if row.is_winner else "" if row.milliseconds is not None else "dim")


def _spills(row: Option) -> Cell:
    return () if row.spills is None else cell(byte_text(row.spills), "warn" if row.spills else "")


COLUMNS: Final[tuple[Column[Option], ...]] = (
    Column("chosen", lambda row: "✓" if row.is_winner else "", role="good"),
    Column("choice", lambda row: _tried(row, one_line(f"{row.label} {row.step}".rstrip())), stretch=True, least=20),
    Column("kind", lambda row: row.kind, drop=2),
    Column("time", lambda row: _tried(row, time_text(row)), right=True, stretch=True, least=16, most=40, middle=True),
    Column("slowdown", lambda row: "" if row.times is None else f"{row.times:.2f}×", right=True),
    Column(
        "registers", lambda row: "" if row.registers is None else str(row.registers), right=True, optional=True, drop=4
    ),
    Column("spills", _spills, right=True, optional=True, drop=4),
    Column(
        "occupancy",
        lambda row: share_text(row.occupancy, 0),
        right=True,
        optional=True,
        drop=5,
    ),
    Column("configuration", option_text, stretch=True, least=16, most=80, drop=3, optional=True),
)
"""The choices of one decision, for the terminal and the app."""


def autotune(request: Request) -> Stack:
    """The sheets, each with a limited number of candidates."""
    parts: list[RenderableType] = []
    for found in request.graphs():
        sheets = request.kept(autotuned(request.dump, found.graph))
        told = [number_of(len(sheets), "decision") if sheets else "nothing was autotuned"]
        if sheets and (seconds := sum(row.seconds or 0.0 for row in sheets)):
            told.append(f"{seconds_text(seconds)} spent on benchmarking")
        if request.names and not sheets:
            told = [f"nothing that was autotuned concerns {' and '.join(request.names)}"]
        parts.append(title(found, *told))
        parts += [sheet(row, request.limit, request.dump_argument) for row in sheets]
    return request.stacked(parts)


def sheet(row: Autotuned, limit: int | None, dump_argument: str) -> TerminalTable[Option]:
    """The sheet of one tuning decision, with at most `limit` candidates."""
    every = command(dump_argument, "autotune", row.kernel or row.name, "--all")
    head = joined((one_line(question_text(row)), "bold"), one_line=True)
    notes = indented((margin_text(row), *outcome_text(row)))
    return limited(COLUMNS, row.choices, limit, every, title=head, notes=notes)
