"""The runs that `tune` made, and where their time went."""

from collections.abc import Iterable
from typing import Final

from inspect_compile.analysis.compare.tried import trial_rows
from inspect_compile.facts import TrialRun
from inspect_compile.facts.trials import STAGES, TIMED
from inspect_compile.graph import grouped
from inspect_compile.tables.columns import Column
from inspect_compile.tables.parts import DeclaredTable, Request
from inspect_compile.tables.styled_text import Block, Stack, Table, styled
from inspect_compile.tables.text import number_of, one_line


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f}"


def _stage(name: str) -> Column[TrialRun]:
    return Column(name, lambda row: "".join(_seconds(one.seconds) for one in row.stages if one.on == name), right=True)


COLUMNS: Final[tuple[Column[TrialRun], ...]] = (
    Column("run", lambda row: str(row.number), right=True),
    Column("with", lambda row: str(row.beside), right=True),
    Column("at", lambda row: _seconds(row.began), right=True),
    Column("took", lambda row: _seconds(row.seconds), right=True),
    *map(_stage, STAGES),
    Column("CPU", lambda row: _seconds(row.cpu_seconds) if row.stages else "", right=True),
    Column("change", lambda row: one_line(row.words), role="name", stretch=True, least=12, most=60, optional=True),
)
"""All times are seconds."""


def trials(request: Request) -> Block:
    """The runs, in the order in which they began."""
    rows = trial_rows(request.graphs)
    if not rows:
        return styled("tune ran nothing here")
    whys = dict.fromkeys(row.why_not_ahead for row in rows if row.why_not_ahead)
    return Stack(
        [
            styled(sum_text(rows), "strong"),
            *(styled(f"Not forked with torch's compiler loaded: {one_line(why)}") for why in whys),
            Table(COLUMNS, rows[: request.limit]),
        ]
    )


def sum_text(rows: Iterable[TrialRun]) -> str:
    """How long all rounds took, and what one of them takes."""
    rounds = grouped(rows, lambda row: row.beside)
    whole = sum(max(row.seconds for row in own) for own in rounds.values())
    timed = sum(one.seconds for own in rounds.values() for row in own for one in row.stages if one.on == TIMED)
    runs = sum(map(len, rounds.values()))
    return (
        f"{number_of(runs, 'run')} in {number_of(len(rounds), 'round')} of {_seconds(whole / len(rounds))} s each: "
        f"{_seconds(whole)} s, of which steps were timed for {_seconds(timed)} s"
    )


TABLE: Final = DeclaredTable(trials, trial_rows)
