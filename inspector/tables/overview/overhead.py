"""inspect-compile's own hooks: where they are, whether they worked, and what they cost."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.hooks import hooks as hooks_of
from inspect_compile.facts import Hook
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, joined, styled
from inspect_compile.tables.text import number_of, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("probe"),
    Column("watches", cap=0.55),
    Column("state"),
    Column("calls", right=True),
    Column("time", right=True),
    Column("", flex=True, least=70),
)
_STYLES = {"failed": "red", "missing": "yellow", "closed": "dim", "installed": "dim"}


def overhead(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each hook: failed ones first, then the most expensive."""
    hooks = [row for row in hooks_of(dump) if all(name in row.target or name in row.probe for name in names)]
    found = sorted(hooks, key=lambda row: (row.state not in ("failed", "missing"), -row.seconds))
    shown = found if limit is None else found[:limit]
    seconds = sum(row.seconds for row in found)
    whole = f" of {seconds_text(dump.run.seconds)}" if dump.run.seconds is not None else ""
    told = f"{seconds_text(seconds)}{whole} in {number_of(sum(row.calls for row in found), 'call')}"
    head = joined((f"{number_of(len(found), 'hook')} of our probes", "bold"), "  ", (told, "dim"), one_line=True)
    notes: list[Cell] = []
    if len(found) > len(shown):
        notes.append(more(len(found) - len(shown), command(dump_argument, "overhead", *names, "--all")))
    return Sheet(_COLUMNS, [_cells(row) for row in shown], title=head, notes=notes)


def _cells(row: Hook) -> list[Cell]:
    state = styled(row.state, style=_STYLES.get(row.state, ""))
    target = row.target.removeprefix("torch.")
    return [row.probe, target, state, f"{row.calls:,}", seconds_text(row.seconds), one_line(row.reason)]
