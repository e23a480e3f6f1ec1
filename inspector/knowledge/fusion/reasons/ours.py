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
        "the backend does not take both into one loop nest, and gives no reason",
        "backend",
        "let both work on one shape, over one order of axes: on the CPU it is most often loops of different sizes",
    ),
    _ours(
        "no-common-buffer",
        "they touch no buffer in common: the scheduler tries only pairs that do",
        "never tried",
        knob="aggressive_fusion",
    ),
    _ours(
        "outside-window",
        "too many other nodes that touch the same buffer stand between them: only the next ones are tried",
        "never tried",
        "use the two next to each other in the program",
        "max_fusion_buffer_group_pairwise_attempts",
    ),
    _ours(
        "unfusable",
        "one of them is a call into a library or does nothing, and is never tried",
        "never tried",
        "of a matrix product or convolution on a GPU: mode='max-autotune' offers templates that take the operations"
        " around them",
    ),
    _ours(
        "put-off",
        "allowed, but the backend does other kinds of fusion first: it waits for a later round",
        "never tried",
    ),
    _ours("one-group", "they are in one group already", "never tried"),
    _ours(
        "lost-to", "allowed, and not done: another pair came first, and what came out of it no longer fits", "profit"
    ),
    _ours("legal", "allowed, and not done in that round: a better pair came first", "profit"),
    _ours(
        "denied-by-user",
        "`--deny` keeps the two apart in this compile",
        "never tried",
        "compile it again without --deny",
        templates=("denied by user",),
    ),
    _ours(
        "beyond-limit-of-fusions",
        "`bisect-fusions` allowed no more fusions in this compile",
        "never tried",
        templates=("beyond limit of fusions",),
    ),
    _ours("undone", "fused, and taken apart again later", "profit"),
)
