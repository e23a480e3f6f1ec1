"""What the reason codes of refused fusions mean, for people. Source: torch/_inductor/scheduler.py, torch 2.13."""

from typing import Final

WORDS: Final[dict[str, str]] = {
    "intermediate-nodes": "something between the two must run after the one and before the other",
    "memory-deps-mismatch": "the one reads what the other writes at another index, so an element is not ready in time",
    "no-shared-data": "they touch a common buffer, but no common elements at the same index",
    "indexing-mismatch": "they touch the same data, with indices that do not fit together",
    "numel-mismatch": "their loops run over different numbers of elements",
    "too-far-apart": "they stand far apart in the order: fusing them could keep buffers alive for longer",
    "device-mismatch": "they run on different devices",
    "extern-or-nop": "one of them is a library call or does nothing",
    "would-make-a-cycle": "each would have to run before the other",
    "too-many-nodes": "the fused node would hold more operations than allowed (config.max_fusion_size)",
    "below-score-threshold": "fusing them saves less than the threshold (config.score_fusion_memory_threshold)",
    "score-fusion-memory-threshold": "fusing them saves less than config.score_fusion_memory_threshold bytes",
    "more-peak-memory": "fusing them could raise the peak of memory",
    "backend-refused": "the backend did not take both into one loop nest",
    "legal": "allowed, and not done in that round: a better pair came first",
}
"""Code → words."""


def words_of(code: str) -> str:
    """The words for `code`, empty for one that nobody has described: torch's own reason then has to do."""
    return WORDS.get(code, "")
