"""Why the forward saves a value for the backward, or the backward recomputes it.

torch's words are those of `solve_min_cut` and `should_ban_recomputation` (torch/_functorch/partitioners.py, torch 2.11
to 2.15); a test compares them with the installed torch. Settings are those of `torch._functorch.config`.
"""

from typing import Final, NamedTuple

NO_REASON: Final = "no reason recorded"
FAR_APART: Final = "used far apart"
LONG_CHAIN: Final = "long fusible chain"
EITHER: Final = f"{FAR_APART} or {LONG_CHAIN}"
"""This tool's reason for bans that torch does not explain."""

COPIED: Final = "copied-input"


class SavedReason(NamedTuple):
    """One reason."""

    code: str
    words: str
    """torch's words; empty for a reason of this tool."""
    meaning: str
    """In plain words, short enough for a row of a table."""
    knob: str = ""
    """The setting that decides."""
    versions: str = "2.11-2.15"
    """torch versions with these words; empty for a reason of this tool."""


_BANNED: Final = (
    SavedReason("input", "primal input", "an input: the program holds it"),
    SavedReason("seed", "forward RNG seed", "the seed of the forward's random numbers"),
    SavedReason("must-save", "marked MUST_SAVE", "marked: must be saved"),
    SavedReason(
        "not-cheap",
        "not in recomputable allowlist",
        "an operator that torch does not consider cheap",
        "ban_recompute_not_in_allowlist",
    ),
    SavedReason("random", "random op", "random numbers, which would differ"),
    SavedReason("compute-bound", "compute intensive op", "a matmul, a convolution or attention: expensive to compute"),
    SavedReason("not-builtin", "non-builtin op", "the program's own operator"),
    SavedReason(
        "materialized",
        "materialized in backward",
        "the backward would have to write it out: its reader fuses with nothing",
        "ban_recompute_materialized_backward",
    ),
    SavedReason("too-far", "too far from backward", "too many nodes away from the backward", "max_dist_from_bw"),
    SavedReason("reduction", "reduction op", "less than a quarter of its inputs", "ban_recompute_reductions"),
    SavedReason(
        "far-apart",
        FAR_APART,
        "what it reads is also read before an operator that fuses with nothing",
        "ban_recompute_used_far_apart",
        "",
    ),
    SavedReason(
        "long-chain",
        LONG_CHAIN,
        "more than a hundred nodes after the start of a chain that fuses",
        "ban_recompute_long_fusible_chains",
        "",
    ),
    SavedReason(
        "far-apart-or-long-chain",
        EITHER,
        "at the end of a long chain that fuses, or read across what does not: torch does not say which",
        "ban_recompute_used_far_apart",
        "",
    ),
    SavedReason("banned", NO_REASON, "not to be recomputed; torch gives no reason", versions=""),
)
_UNSAVABLE: Final = (
    SavedReason("view", "view op (recompute_views=True)", "a view: recreated at no cost", "recompute_views"),
    SavedReason("number", "SymFloat (non-SymInt symbolic value)", "a number"),
    SavedReason("no-tensor", "non-tensor output", "several values together, which cannot be saved as one"),
    SavedReason(
        "mutation", "input mutation replayed after forward", "a write to an input, done after the forward", "", "2.15"
    ),
)
_OURS: Final = (
    SavedReason("cut", "", "the cheapest place to cut: its inputs are larger, or would be kept for it alone"),
    SavedReason("default", "", "the default partitioner saves what the backward reads"),
    SavedReason("custom", "", "the program's own partitioner chose"),
    SavedReason("marked-by-torch", "", "marked by torch: the edge of a checkpointed region, a collective, an effect"),
    SavedReason("checkpoint", "", "checkpointed by the program"),
    SavedReason("budget", "", "freed by the memory budget", "activation_memory_budget"),
    SavedReason("cheap", "", "torch considers it free: fused into its reader"),
    SavedReason("held", "", "the program holds it anyway"),
    SavedReason(COPIED, "", "an input; what is saved is a copy in another layout"),
)
REASONS: Final[tuple[SavedReason, ...]] = (*_BANNED, *_UNSAVABLE, *_OURS)

_BY_WORDS: Final = {reason.words: reason for reason in REASONS if reason.words}
_BY_CODE: Final = {reason.code: reason for reason in REASONS}


def by_words(words: str) -> SavedReason | None:
    """The reason that torch gives in these words."""
    return _BY_WORDS.get(words)


def by_code(code: str) -> SavedReason | None:
    """The reason with that code."""
    return _BY_CODE.get(code)
