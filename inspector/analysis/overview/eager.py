"""Which of the functions that Dynamo looked at run without torch.compile, in all of their calls or in some.

Calls are counted where torch checks guards, and those of what torch.compile returned and of disabled functions. Calls
of other functions that Dynamo skips are not: no hook sees them.
"""

from collections import Counter
from typing import Final

from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphBreak, GuardedCalls, Skip
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.knowledge.frontend.skip_reasons import computes_nothing

LIMIT, FAILED, SKIPPED, BREAK, DISABLED = "limit", "failed", "skipped", "graph break", "disabled"
ALL: Final = "functions"
_ORDER: Final = (LIMIT, FAILED, SKIPPED, BREAK)


def eager(dump: Dump) -> dict[str, int]:
    """Why functions run eagerly → how many do, each counted once, for what takes most calls; `ALL` → how many there
    are. Empty if none does.

    `FAILED` and `SKIPPED` functions do so in every call, or in those that fit none of their compiles, as those that
    reached a `LIMIT` do in every later one; at a `BREAK` Python runs one line of each call.
    """
    broken = {frame_id(row.graph) for row in dump.rows(GraphBreak)}
    found: dict[tuple[str, str], set[str]] = {}
    for row in dump.rows(Frame):
        reasons = found.setdefault((row.file, _name(row.function)), set())
        if row.limit:
            reasons.add(LIMIT)
        elif row.status in (FAILED, SKIPPED):
            reasons.add(row.status)
        if frame_id(row.graph) in broken:
            reasons.add(BREAK)
    for skip in dump.rows(Skip):
        if not computes_nothing(skip.reason):
            found.setdefault((skip.file, _name(skip.function)), set()).add(SKIPPED)
    why = Counter(next((one for one in _ORDER if one in reasons), "") for reasons in found.values())
    counts = {reason: why[reason] for reason in _ORDER if why[reason]}
    return {ALL: len(found), **counts} if counts else {}


def eager_calls(dump: Dump) -> tuple[dict[str, int], int]:
    """Why calls ran eagerly → how many did, and of how many that were counted. Empty, and 0, if none did or they were
    not counted. A `LIMIT`'s fitted no compile; `SKIPPED` are those of failed functions, too.
    """
    rows = dump.rows(GuardedCalls)
    has_limit = any(row.limit for row in dump.rows(Frame))
    why = {
        LIMIT: sum(row.beyond_limit for row in rows) if has_limit else 0,
        SKIPPED: sum(row.skipped for row in rows),
        DISABLED: sum(row.disabled for row in rows),
    }
    found = {reason: count for reason, count in why.items() if count > 0}
    return found, sum(row.checked + row.skipped + row.disabled for row in rows) if found else 0


def _name(function: str) -> str:
    """The function's name; of the rest after a graph break that of the whole."""
    rest = resumed(function)
    return function.rpartition(".")[2] if rest is None else rest[0]
