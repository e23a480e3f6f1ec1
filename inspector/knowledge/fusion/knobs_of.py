"""The settings that affect a pair: by its reason, and by how the two access what they share."""

from typing import Final

from inspect_compile.knowledge.fusion.knob_values import by_name
from inspect_compile.knowledge.fusion.reasons.reason import Reason

_INDICES: Final = frozenset({"no-shared-data", "indexing-mismatch", "memory-deps-mismatch", "score-threshold"})
_BY_INDEX: Final[tuple[tuple[str, bool, tuple[str, ...]], ...]] = (
    ("transposed", True, ("triton.mix_order_reduction_non_strict_mode", "loop_ordering_after_fusion")),
    ("transposed", False, ("loop_ordering_after_fusion", "loop_index_inversion_in_fusion")),
    ("broadcast", False, ("expand_dimension_for_pointwise_nodes", "loop_reindexing_after_fusion")),
    ("tiling", False, ("loop_reindexing_after_fusion", "loop_index_inversion_in_fusion")),
)
"""(how the indices differ, both are reductions, settings). Sources: Scheduler._can_fuse and MixOrderReduction.can_fuse
of torch 2.13 (torch/_inductor/scheduler.py)."""


def knobs_of(reason: Reason | None, differences: set[str], kinds: set[str], device: str) -> tuple[str, ...]:
    """The likeliest first. `differences`: kinds of `analysis.indexing.difference`; `kinds`: of the operations."""
    if reason is None:
        return ()
    found: dict[str, None] = {}
    if reason.code in _INDICES:
        for kind, are_reductions, knobs in _BY_INDEX:
            if kind in differences and are_reductions == (kinds == {"reduction"}):
                found.update(dict.fromkeys(knobs))
    if reason.knob:
        found[reason.knob] = None
    elsewhere = "gpu" if device.startswith("cpu") else "cpu"
    return tuple(name for name in found if (knob := by_name(name)) is None or knob.only != elsewhere)
