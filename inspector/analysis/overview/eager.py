"""Which of the functions that Dynamo looked at run without torch.compile, in all of their calls or in some.

Calls are counted where torch checks guards: not those of functions that it skips, which it no longer looks at.
"""

from collections import Counter
from typing import Final

from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphBreak, GuardedCalls, Skip
from inspect_compile.facts.compile_id import frame_id

LIMIT, FAILED, SKIPPED, BREAK = "limit", "failed", "skipped", "graph break"
ALL: Final = "functions"
_ORDER: Final = (LIMIT, FAILED, SKIPPED, BREAK)
_NEEDS_NONE: Final = ("no tensor-related objects", "no content in function")
"""In torch's reason for a frame in which there is nothing to compile."""


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
        if not any(words in skip.reason for words in _NEEDS_NONE):
            found.setdefault((skip.file, _name(skip.function)), set()).add(SKIPPED)
    why = Counter(next((one for one in _ORDER if one in reasons), "") for reasons in found.values())
    counts = {reason: why[reason] for reason in _ORDER if why[reason]}
    return {ALL: len(found), **counts} if counts else {}


def eager_calls(dump: Dump) -> tuple[int, int]:
    """How many calls fitted no compile and ran eagerly because of a limit, and of how many that checked guards; zeros
    if there are none or they were not counted.
    """
    rows = dump.rows(GuardedCalls)
    eagerly = sum(row.eager for row in rows)
    if eagerly <= 0 or not any(row.limit for row in dump.rows(Frame)):
        return 0, 0
    return eagerly, sum(row.checked for row in rows)


def _name(function: str) -> str:
    """The function's name; of the rest after a graph break that of the whole."""
    rest = resumed(function)
    return function.rpartition(".")[2] if rest is None else rest[0]
