"""A lookup in a cache, in words."""

from typing import Final

from inspect_compile.analysis.caches.lookups import FORCED_MISS, LookupRow
from inspect_compile.analysis.caches.words import differences_text
from inspect_compile.facts import CacheLookup
from inspect_compile.tables.text import one_line

OUTCOMES: Final = {
    FORCED_MISS: "bypassed for recording",
    "hit": "hit: nothing was compiled, so there is no lowering to show",
    "miss": "miss",
    "bypass": "bypass: torch could not use the cache",
    "failed": "failed: the entry could not be loaded, so the model is compiled again",
}
_CACHES: Final = {
    "fx_graph": "FX-graph",
    "aot_autograd": "AOTAutograd",
    "cpp": "C++ kernels",
    "triton": "Triton",
    "autotune": "autotuning",
    "vllm": "vLLM",
}


def cache_name(row: CacheLookup) -> str:
    """`FX-graph`."""
    return _CACHES.get(row.cache, one_line(row.cache))


def outcome_word(outcome: str) -> str:
    """In a word: `hit`, `miss`, `skipped`."""
    return "skipped" if outcome == FORCED_MISS else one_line(outcome)


def outcome_text(row: LookupRow) -> str:
    """What came of it, and why."""
    if row.outcome == "hit" and row.reason:
        return f"hit: its facts were {one_line(row.reason)}"
    outcome = OUTCOMES.get(row.outcome, one_line(row.outcome))
    why = "" if row.outcome == FORCED_MISS else reason_text(row)
    return f"{outcome}: {why}" if why else outcome


def reason_text(row: LookupRow) -> str:
    """Why there was nothing that torch could take; empty if there was, or if that is not known."""
    if row.reason:
        return one_line(row.reason)
    if row.outcome != "miss" and row.stored is not False:
        return ""
    if row.nearest is None:
        # There are many kernels: that nothing is there is said by the miss alone.
        return "nothing is stored under the key of this graph" if row.outcome == "miss" and not row.kernel else ""
    nearest = f"{one_line(row.nearest)} of {one_line(row.nearest_run)}" if row.nearest_run else one_line(row.nearest)
    if not row.differing:
        return f"the key is that of {nearest}: its entry was not kept, is gone, or its guards failed"
    return f"the key is not that of {nearest}: {one_line(differences_text(row.differing))}"
