"""Closed issues of pytorch about wrong results: what the maintainers said, and what `numerics` has to say.

Chosen before anything was run: the closed issues from number 170000 on that 20 searches of their texts found (wrong
results, silent correctness, rounding, of Inductor, Dynamo, AOTAutograd, decompositions and passes) and that give a
program. docs/numerics.md tells of those that are not here, and why. The programs are written anew.
"""

from typing import Final, NamedTuple

from inspect_compile.knowledge.numerics.levels import AOT, DYNAMO, LOWERING

KERNEL: Final = "a kernel"
PATTERN: Final = "pattern_matcher"
REINPLACE: Final = "reinplace_inplaceable_ops"
RELEASES: Final = ("2.11", "2.13", "2.15")
"""The releases that the programs were run with."""

ON_CUDA: Final = {
    195214: "",
    193751: KERNEL,
    193661: KERNEL,
    193492: KERNEL,
    189518: PATTERN,
    187332: "",
    185605: "",
    183898: LOWERING,
    182012: LOWERING,
    181568: "",
    180772: LOWERING,
    180164: LOWERING,
    173987: KERNEL,
}
"""Issues in which the maintainers, or the program, speak of a GPU → what is to blame there with torch 2.11."""


class Issue(NamedTuple):
    """One issue, and its program."""

    number: int
    said: str
    """What the maintainers said of it."""
    blamed: str
    """What makes the first wrong result: a level, or `KERNEL`; empty if it is rounding in all releases."""
    wrong_in: tuple[str, ...] = ()
    """The releases of `RELEASES` in which a result is wrong on the CPU. In the others nothing is."""


BUG_IN_LOWERING: Final = "a bug in the lowering of argmax and argmin"
SCATTER: Final = "a bug in Inductor: the layout of an expanded tensor is kept by what is written into it"
AS_DESIGNED: Final = "no bug: fused kernels round results only, emulate_precision_casts=True rounds as eager does"

ISSUES: Final = (
    # The maintainers speak of Dynamo; its graph, run as it is, changes the input as eager does (backend="eager").
    Issue(195422, "a bug in Dynamo", AOT, ("2.11", "2.13")),
    Issue(195214, AS_DESIGNED, ""),
    Issue(193751, BUG_IN_LOWERING, KERNEL, ("2.11", "2.13")),
    Issue(193661, BUG_IN_LOWERING, KERNEL, ("2.11", "2.13")),
    Issue(193492, BUG_IN_LOWERING, KERNEL, ("2.11", "2.13")),
    # The maintainers speak of AOTAutograd; Dynamo's graph, run as it is, has lost the function's own backward.
    Issue(193279, "a bug in AOTAutograd", DYNAMO, ("2.11", "2.13")),
    Issue(190765, "a bug in what simplifies indices: the kernel reads out of bounds", KERNEL, ("2.11", "2.13")),
    Issue(189518, "a bug in the pattern pointless_cumsum_replacement", PATTERN, ("2.11", "2.13")),
    Issue(188432, "no bug: rounding, which a division by nearly zero makes large", ""),
    Issue(185605, AS_DESIGNED, ""),
    Issue(185337, AS_DESIGNED, ""),
    Issue(183986, "a bug in the pass that makes operators work in place", REINPLACE, ("2.11", "2.13")),
    Issue(183898, SCATTER, LOWERING, ("2.11",)),
    Issue(183894, BUG_IN_LOWERING, KERNEL, ("2.11",)),
    Issue(183765, "a bug in ATen's vectorized cosh", KERNEL, ("2.11", "2.13")),
    Issue(183763, "a bug in ATen's vectorized sinh", KERNEL, ("2.11", "2.13")),
    Issue(183761, AS_DESIGNED, ""),
    Issue(183082, BUG_IN_LOWERING, KERNEL, ("2.11",)),
    Issue(182225, AS_DESIGNED, ""),
    Issue(182012, SCATTER, LOWERING, ("2.11",)),
    Issue(181568, AS_DESIGNED, ""),
    Issue(180772, SCATTER, LOWERING, ("2.11",)),
    Issue(180164, SCATTER, LOWERING, ("2.11",)),
    Issue(176854, "a bug in Dynamo", DYNAMO, ("2.11",)),
    Issue(173987, "a bug in the lowering of comparisons: the number is not rounded to the dtype", KERNEL, ("2.11",)),
)
