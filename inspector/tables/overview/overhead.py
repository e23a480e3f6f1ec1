"""inspect-compile's own hooks: where they are, whether they worked, and what they cost."""

from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.dumps.rows import hooks as hooks_of
from inspect_compile.facts import Hook
from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.parts import command, first_of
from inspect_compile.tables.styled_text import joined
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import number_of, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_ROLES: Final = {"failed": "bad", "missing": "warn", "closed": "dim", "installed": "dim"}
COLUMNS: Final[tuple[Column[Hook], ...]] = (
    Column("probe", lambda row: row.probe, stretch=True, least=14, middle=True, drop=1),
    Column("watches", lambda row: row.target.removeprefix("torch."), stretch=True, least=30, most=100, middle=True),
    Column("state", lambda row: cell(row.state, _ROLES.get(row.state, ""))),
    Column("calls", lambda row: f"{row.calls:,}", right=True),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("reason", lambda row: one_line(row.reason), stretch=True, least=16, most=200, optional=True),
)


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
    shown, notes = first_of(found, limit, command(dump_argument, "overhead", *names, "--all"))
    seconds = sum(row.seconds for row in found)
    whole = f" of {seconds_text(dump.run.seconds)}" if dump.run.seconds is not None else ""
    told = f"{seconds_text(seconds)}{whole} in {number_of(sum(row.calls for row in found), 'call')}"
    head = joined((f"{number_of(len(found), 'hook')} of our probes", "bold"), "  ", (told, "dim"), one_line=True)
    return TerminalTable(COLUMNS, shown, title=head, notes=notes)
