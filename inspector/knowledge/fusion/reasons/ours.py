"""Outcomes that torch gives no reason for: what became of a pair, and why a pair was never tried."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import About, Reason


def _ours(
    code: str, meaning: str, about: About, advice: str = "", knob: str = "", templates: tuple[str, ...] = ()
) -> Reason:
    return Reason(code, templates, meaning, about, advice, knob, versions="")


OURS: Final = (
    _ours(
        "backend-refused",
        "torch's code generator does not put both into one loop, and gives no reason; on the CPU the"
        " loops most often have different sizes",
        "backend",
        "give both the same shape and memory layout",
    ),
    _ours(
        "no-common-buffer",
        "they use no tensor in common, and torch tries only pairs that do",
        "never tried",
        knob="aggressive_fusion",
    ),
    _ours(
        "outside-window",
        "too many other operations use the same tensor between the two, and torch tries only the next few",
        "never tried",
        "use the two next to each other in the program",
        "max_fusion_buffer_group_pairwise_attempts",
    ),
    _ours(
        "unfusable",
        "one of the two is a library call, or runs no code: torch never tries such a pair",
        "never tried",
        "on a GPU, mode='max-autotune' lets torch generate matrix products and convolutions itself,"
        " together with the operations around them",
    ),
    _ours(
        "deferred",
        "allowed, but torch does other kinds of fusion first: it waits for a later round",
        "never tried",
    ),
    _ours("one-group", "they are fused already", "never tried"),
    _ours("lost-to", "allowed, and not done: another pair came first, and its result no longer fits", "profit"),
    _ours("allowed", "allowed, and not done in that round: a better pair came first", "profit"),
    _ours(
        "denied-by-user",
        "`--deny` keeps the two apart in this compile",
        "never tried",
        "compile again without --deny",
        templates=("denied by user",),
    ),
    _ours(
        "beyond-limit-of-fusions",
        "`bisect-fusions` allowed no more fusions in this compile",
        "never tried",
        templates=("beyond limit of fusions",),
    ),
    _ours("undone", "fused at first, and separated again later", "profit"),
)
