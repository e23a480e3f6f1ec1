"""Settings of torch._inductor.config that affect fusion: values worth trying, and which of them affect a pair."""

from typing import Final, Literal, NamedTuple

from inspect_compile.knowledge.fusion.reasons.reason import Reason

Value = bool | int | None


class Knob(NamedTuple):
    """A setting."""

    name: str
    """Dotted name, without `config.`"""
    default: Value
    """torch's default, in the newest of `versions`."""
    values: tuple[Value, ...]
    """Values worth trying, the mildest first."""
    effect: str
    """What these values allow or cause, as part of a sentence."""
    only: Literal["", "gpu", "cpu"] = ""
    """The only device that it affects; empty for both."""
    versions: str = "2.11-2.15"


KNOBS: Final[tuple[Knob, ...]] = (
    Knob("max_fusion_size", 64, (256, 1024), "groups of more operations"),
    Knob("max_fusion_unique_io_buffers", None, (None,), "groups that touch any number of buffers"),
    Knob(
        "max_fusion_buffer_group_pairwise_attempts",
        64,
        (512, 4096),
        "pairs that are further apart among the users of a buffer; takes longer to compile",
    ),
    Knob("score_fusion_memory_threshold", 10, (1, 0), "fusions that save fewer bytes"),
    Knob("aggressive_fusion", False, (True,), "fusions of nodes that share no buffer but have the same loops"),
    Knob("loop_ordering_after_fusion", True, (True, False), "loops in another order, so that accesses match", "gpu"),
    Knob(
        "loop_reindexing_after_fusion",
        True,
        (True, False),
        "a pointwise node in the loops of the reduction that it reads",
        "gpu",
        versions="2.13-2.15",
    ),
    Knob("loop_index_inversion_in_fusion", True, (True, False), "an inverted index, so that accesses match", "gpu"),
    Knob("expand_dimension_for_pointwise_nodes", False, (True,), "a smaller pointwise node in larger loops"),
    Knob("split_reductions", True, (False,), "a reduction in one kernel, not in two steps; slow for few, long rows"),
    Knob("triton.cooperative_reductions", False, (True,), "long reductions in one kernel, by several blocks", "gpu"),
    Knob("triton.force_cooperative_reductions", False, (True,), "every reduction done by several blocks", "gpu"),
    Knob("triton.mix_order_reduction", True, (True, False), "reductions along different axes in one kernel", "gpu"),
    Knob(
        "triton.mix_order_reduction_non_strict_mode",
        False,
        (True,),
        "such reductions where a gain is less certain",
        "gpu",
    ),
    Knob(
        "triton.nested_reduction",
        True,
        (True,),
        "a small reduction inside a larger one",
        "gpu",
        versions="2.13-2.15",
    ),
    Knob("triton.tiling_prevents_pointwise_fusion", True, (False,), "pointwise nodes with other tilings", "gpu"),
    Knob("triton.tiling_prevents_reduction_fusion", True, (False,), "reductions with other tilings", "gpu"),
    Knob("epilogue_fusion", True, (True, False), "epilogues in a template's kernel"),
    Knob("prologue_fusion", True, (True, False), "prologues in a template's kernel", "gpu"),
    Knob("benchmark_fusion", False, (True,), "only fusions that are faster when measured", "gpu"),
    Knob("benchmark_epilogue_fusion", True, (False,), "epilogues without measuring them first", "gpu"),
    Knob("benchmark_template_fusion", True, (False,), "the same under its newer name", "gpu", versions="2.15"),
    Knob("combo_kernels", False, (True,), "nodes that do not depend on each other in one launch", "gpu"),
    Knob("realize_reads_threshold", 4, (8, 16), "values that are computed again, not stored, for more readers"),
    Knob("realize_opcount_threshold", None, (60, 200), "longer expressions before one is stored"),
    Knob("unroll_reductions_threshold", 8, (64, 1), "short reductions written out as pointwise, or not"),
    Knob("cpp.max_horizontal_fusion_size", 16, (64,), "more independent loops in one nest", "cpu"),
)
"""Each setting once. `worth_trying` leaves out the value that a compile already had."""

CHANNELS_LAST: Final = "force_layout_optimization"
"""Makes Inductor keep what convolutions read and write channels-last, whatever it thinks of their sizes. It is no
setting of fusion, and so none of `KNOBS`.
"""

_BY_NAME: Final = {knob.name: knob for knob in KNOBS}


def by_name(name: str) -> Knob | None:
    """The knob of that name."""
    return _BY_NAME.get(name)


def worth_trying(name: str, *had: Value) -> tuple[Value, ...]:
    """Values to try, other than the one that a compile `had`, or than the default."""
    knob = _BY_NAME.get(name)
    if knob is None:
        return (True,) if name == CHANNELS_LAST and True not in had else ()
    now = had[0] if had else knob.default
    return tuple(value for value in knob.values if value is not now and value != now)


_AGGRESSIVE: Final = "aggressive_fusion"
_INDICES: Final = frozenset({"no-shared-data", "indexing-mismatch", "memory-deps-mismatch", "score-threshold"})
_BY_INDEX: Final[tuple[tuple[str, bool, tuple[str, ...]], ...]] = (
    ("transposed", True, ("triton.mix_order_reduction_non_strict_mode", "loop_ordering_after_fusion")),
    ("transposed", False, ("loop_ordering_after_fusion", "loop_index_inversion_in_fusion")),
    ("broadcast", False, ("expand_dimension_for_pointwise_nodes", "loop_reindexing_after_fusion")),
    ("tiling", False, ("loop_reindexing_after_fusion", "loop_index_inversion_in_fusion")),
)
"""(how the indices differ, both are reductions, settings). Sources: Scheduler._can_fuse and MixOrderReduction.can_fuse
of torch 2.13 (torch/_inductor/scheduler.py)."""


def knob_of(reason: Reason, *, is_sharing: bool) -> str:
    """The setting of a reason; empty for that which only joins nodes that have no tensor in common, if they share one:
    it does not make them go over it in the same order.
    """
    return "" if is_sharing and reason.knob == _AGGRESSIVE else reason.knob


def knobs_of(reason: Reason | None, differences: set[str], kinds: set[str], device: str) -> tuple[str, ...]:
    """The likeliest first. `differences`: kinds of `analysis.indexing.difference`; `kinds`: of the operations."""
    if reason is None:
        return ()
    found: dict[str, None] = {}
    if reason.code in _INDICES:
        for kind, are_reductions, knobs in _BY_INDEX:
            if kind in differences and are_reductions == (kinds == {"reduction"}):
                found.update(dict.fromkeys(knobs))
    if own := knob_of(reason, is_sharing=bool(differences)):
        found[own] = None
    elsewhere = "gpu" if device.startswith("cpu") else "cpu"
    return tuple(name for name in found if (knob := by_name(name)) is None or knob.only != elsewhere)
