"""inspect-compile's own hooks: where they are, whether they worked, and what they cost."""

from typing import Final

from inspect_compile.analysis.dumps.hooks import hooks as hooks_of
from inspect_compile.facts import Hook
from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, heading
from inspect_compile.tables.text import number_of, one_line, seconds_text

_ROLES: Final = {"failed": "bad", "missing": "warn", "closed": "dim", "installed": "dim"}
COLUMNS: Final[tuple[Column[Hook], ...]] = (
    Column("probe", lambda row: row.probe, stretch=True, least=14, middle=True, drop=1),
    Column("watches", lambda row: row.target.removeprefix("torch."), stretch=True, least=30, most=100, middle=True),
    Column("state", lambda row: cell(row.state, _ROLES.get(row.state, ""))),
    Column("calls", lambda row: f"{row.calls:,}", right=True),
    Column("time", lambda row: seconds_text(row.seconds), right=True),
    Column("reason", lambda row: one_line(row.reason), stretch=True, least=16, most=200, optional=True),
)


def overhead(request: Request) -> Block:
    """One row for each hook: failed ones first, then the most expensive."""
    run, names = request.dump.run, request.names
    hooks = [row for row in hooks_of(request.dump) if all(name in row.target or name in row.probe for name in names)]
    found = sorted(hooks, key=lambda row: (row.state not in ("failed", "missing"), -row.seconds))
    seconds = sum(row.seconds for row in found)
    whole = f" of {seconds_text(run.seconds)}" if run.seconds is not None else ""
    summary = f"{seconds_text(seconds)}{whole} in {number_of(sum(row.calls for row in found), 'call')}"
    head = heading(f"{number_of(len(found), 'hook')} of our probes", summary)
    return limited(COLUMNS, found, request.limit, request.command("overhead", *names, "--all"), title=head)


TABLE: Final = DeclaredTable(overhead, lambda graphs: hooks_of(graphs.dump))
