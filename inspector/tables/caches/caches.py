"""The lookups in the caches of graphs and kernels: what each found, and what its key differs in from earlier ones."""

from typing import Final

from inspect_compile.analysis.caches.lookups import FORCED_MISS, LookupRow, cache_rows
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.tables.caches.lookup_text import cache_name, outcome_word, reason_text
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, heading, styled
from inspect_compile.tables.text import file_name, number_of, one_line

_ROLES: Final = {"hit": "good", "miss": "warn", "bypass": "warn"}
_ALONE: Final = {True: "hit", False: "miss"}
_FORCED: Final = (
    "Skipped: inspect-compile bypassed the cache for recording; `alone` is what the lookup would have found."
    " `run --cache keep` does not bypass it"
)
_AUTO: Final = "; with `--cache auto` torch may reuse what was recorded"
_EARLIER: Final = "--earlier DUMP compares the keys with those of an earlier run, too."


def _outcome(row: LookupRow) -> Cell:
    return cell(outcome_word(row.outcome), _ROLES.get(row.outcome, ""))


def _alone(row: LookupRow) -> Cell:
    """What it found, or would have found without us."""
    if row.outcome != FORCED_MISS:
        return ()
    return cell("?" if row.stored is None else _ALONE[row.stored])


COLUMNS: Final[tuple[Column[LookupRow], ...]] = (
    Column("id", lambda row: row.graph),
    Column(
        "function",
        lambda row: f"{one_line(row.function)}  {file_name(row.file)}:{row.line}" if row.file else "",
        stretch=True,
        least=14,
        most=44,
        middle=True,
        optional=True,
    ),
    Column("cache", cache_name),
    Column("kernel", lambda row: one_line(row.kernel), stretch=True, least=12, most=32, middle=True, optional=True),
    Column("lookup", _outcome),
    Column("alone", _alone, optional=True),
    Column("because", reason_text, stretch=True, least=24, most=400, wraps=True, optional=True),
    Column("key", lambda row: row.key[:12], role="dim", optional=True, drop=1),
)


def caches(request: Request, *, earlier: str | None = None) -> Block:
    """Each lookup, in order; `earlier` is the path of a dump whose keys are compared, too."""
    found = [row for row in cache_rows(request.graphs, earlier) if _is_wanted(row, request.names)]
    if not found:
        return styled(text_or_nothing(request.dump, "torch looked up nothing in its graph caches"), "dim")
    outcomes = [
        f"{sum(row.outcome == outcome for row in found)} {outcome_word(outcome)}"
        for outcome in dict.fromkeys(row.outcome for row in found)
    ]
    forced = f"{_FORCED}{'' if request.dump.run.cache == 'auto' else _AUTO}."
    notes = [forced] if any(row.outcome == FORCED_MISS for row in found) else []
    notes += (
        [_EARLIER] if earlier is None and any(row.outcome == "miss" or row.stored is False for row in found) else []
    )
    return limited(
        COLUMNS,
        found,
        request.limit,
        request.every("caches", *(("--earlier", earlier) if earlier is not None else ())),
        title=heading(number_of(len(found), "lookup"), ", ".join(outcomes)),
        notes=[styled(note, "dim") for note in notes],
    )


def _is_wanted(row: LookupRow, names: tuple[str, ...]) -> bool:
    words = (row.graph, row.function, row.kernel, row.cache, cache_name(row), row.outcome, row.key)
    return all(any(name in word for word in words) for name in names)


TABLE: Final = DeclaredTable(caches, cache_rows)
