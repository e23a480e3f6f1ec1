"""Outcomes that torch gives no reason for: what became of a pair, and why a pair was never tried."""

from typing import Final

from inspect_compile.knowledge.fusion.reasons.reason import Reason

OURS: Final = (
    Reason(
        "backend-refused",
        (),
        "the backend does not take both into one loop nest, and gives no reason",
        "backend",
        "let both work on one shape, over one order of axes: on the CPU it is most often loops of different sizes",
        "",
        "",
    ),
    Reason(
        "no-common-buffer",
        (),
        "they touch no buffer in common: the scheduler tries only pairs that do",
        "never tried",
        "",
        "aggressive_fusion",
        "",
    ),
    Reason(
        "outside-window",
        (),
        "too many other nodes that touch the same buffer stand between them: only the next ones are tried",
        "never tried",
        "use the two next to each other in the program",
        "max_fusion_buffer_group_pairwise_attempts",
        "",
    ),
    Reason(
        "unfusable",
        (),
        "one of them is a call into a library or does nothing, and is never tried",
        "never tried",
        "of a matrix product or convolution on a GPU: mode='max-autotune' offers templates that take the operations"
        " around them",
        "",
        "",
    ),
    Reason(
        "put-off",
        (),
        "allowed, but the backend does other kinds of fusion first: it waits for a later round",
        "never tried",
        "",
        "",
        "",
    ),
    Reason("one-group", (), "they are in one group already", "never tried", "", "", ""),
    Reason(
        "lost-to",
        (),
        "allowed, and not done: another pair came first, and what came out of it no longer fits",
        "profit",
        "",
        "",
        "",
    ),
    Reason(
        "legal",
        (),
        "allowed, and not done in that round: a better pair came first",
        "profit",
        "",
        "",
        "",
    ),
    Reason(
        "denied-by-user",
        ("denied by user",),
        "`--deny` keeps the two apart in this compile",
        "never tried",
        "compile it again without --deny",
        "",
        "",
    ),
    Reason(
        "beyond-limit-of-fusions",
        ("beyond limit of fusions",),
        "`bisect-fusions` allowed no more fusions in this compile",
        "never tried",
        "",
        "",
        "",
    ),
    Reason("undone", (), "fused, and taken apart again later", "profit", "", "", ""),
)
