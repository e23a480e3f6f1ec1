"""Which matmuls a GPU pads to sizes that suit its vector width, as it timed them itself: data with its source.

Source: `mm` and `addmm` of aten with and without padding, timed by Inductor's own `pad_mm` on one NVIDIA H200 that did
nothing else, torch 2.11.0, November 2026: 904 timings of 43 shapes from vocabularies, images and recommenders, in
float32 without TF32, float16 and bfloat16, with the layouts of forward and backward (tests/data/padding_h200.json).
What decides best among sizes, alignments, bytes copied and a model of both costs is the number of products, and whether
a row of one of the three matrices begins off the vector width: then the kernel is a slower one. Over all, that rule is
right for 89% only. A class of matmuls is decided here where it is right for 95% at least.
"""

from typing import Final, NamedTuple

WIDTH: Final = {"float32": 4, "float16": 8, "bfloat16": 8}
"""Elements that a length must be a multiple of."""
MANY: Final = 2e8
VERY_MANY: Final = 3e10
"""Products: m · k · n."""
ENOUGH: Final = 0.95


class Matmul(NamedTuple):
    """(m × k) · (k × n), in numbers of elements."""

    m: int
    k: int
    n: int
    dtype: str
    """`bfloat16`"""
    first_rows: int
    """Elements from one row of the first matrix to the next, or from one column, where columns are contiguous."""
    second_rows: int
    """The same of the second one."""
    tf32: bool = False


class Seen(NamedTuple):
    """How often the GPU padded matmuls of a class."""

    padded: int
    of: int

    @property
    def decided(self) -> bool | None:
        """Is one of them padded? None where that is not known."""
        share = self.padded / self.of
        return share > 0.5 if max(share, 1 - share) >= ENOUGH else None


SEEN: Final = {
    ("float32", True): Seen(2, 200),
    ("float32", False): Seen(17, 128),
    ("half, rows begin on the width", True): Seen(5, 88),
    ("half, rows begin on the width", False): Seen(2, 64),
    ("half", True): Seen(111, 140),
    ("half", False): Seen(40, 112),
    ("half, very many products", True): Seen(164, 172),
}
"""Class, and whether there are many products."""
GPU_OF: Final = {"sm_90": "H200"}
"""Target → where its matmuls were timed."""


def class_of(matmul: Matmul) -> tuple[str, bool] | None:
    """Of SEEN; None for one like which none was timed."""
    width = WIDTH.get(matmul.dtype)
    if width is None or (matmul.dtype == "float32" and matmul.tf32):
        return None
    products = matmul.m * matmul.k * matmul.n
    many = products > MANY
    if matmul.dtype == "float32":
        return "float32", many
    if not any(rows % width for rows in (matmul.first_rows, matmul.second_rows, matmul.n)):
        return "half, rows begin on the width", many
    return ("half, very many products", True) if products > VERY_MANY else ("half", many)


def seen(matmul: Matmul) -> Seen | None:
    """What is known of matmuls like it; None if nothing is."""
    found = class_of(matmul)
    return None if found is None else SEEN[found]
