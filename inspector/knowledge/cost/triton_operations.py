"""What the operations of Triton's TTIR count, for each element. docs/flops.md has the convention.

The names are those of the MLIR dialects arith, math and tt (Triton 3.3 to 3.9).
"""

import re
from typing import Final, NamedTuple

from inspect_compile.knowledge.cost.kernel_operations import special_operations

NOT_COUNTED: Final = {
    "scf.while": "the number of iterations of a loop depends on values",
    "tt.call": "it calls a function that is not inlined",
    "tt.elementwise_inline_asm": "it contains inline assembly",
    "tt.dot_scaled": "it multiplies matrices with separate scales",
}
"""Operation → why a kernel that contains it is not counted."""

_ONE: Final = frozenset(
    {f"arith.{name}f" for name in ("add", "sub", "mul", "div", "rem", "neg", "cmp")}
    | {f"arith.{name}f" for name in ("maximum", "minimum", "maxnum", "minnum")}
    | {f"math.{name}" for name in ("absf", "ceil", "copysign", "floor", "round", "roundeven", "trunc")}
    | {"tt.precise_divf", "tt.atomic_rmw fadd", "tt.descriptor_reduce add"}
)
_SEVERAL: Final = {"math.fma": 2, "tt.clampf": 2}
"""A multiply-add; a maximum and a minimum."""
_SPECIAL: Final = frozenset({"tt.precise_sqrt", "math.powf"})
_LIBRARY: Final = re.compile(r"__(?:nv|ocml)_(?:fast_)?(\w+?)(?:_f\d\d|f)?$")
"""A function of NVIDIA's libdevice, or of AMD's device library."""


class Operations(NamedTuple):
    """FLOPs of matmuls, scalar operations, and the part of these that is transcendental."""

    heavy: int
    scalar: int
    transcendental: int


def operations(name: str, *, is_float: bool) -> Operations:
    """Counts for one output element; for a matmul for one of the products that it sums up.

    `name` is an operation, an atomic with its kind (`tt.atomic_rmw fadd`), or a library function (`__nv_expf`).
    """
    if name == "tt.dot":
        return Operations(2, 0, 0)
    if name in _SEVERAL:
        return Operations(0, _SEVERAL[name], 0)
    if name in _ONE:
        return Operations(0, 1, 0)
    library = _LIBRARY.match(name)
    if not is_float:
        return Operations(0, 0, 0)
    if library is not None:
        return Operations(0, 1, special_operations(library[1]))
    if name in _SPECIAL or name.startswith("math."):
        return Operations(0, 1, 1 if name in _SPECIAL else special_operations(name.removeprefix("math.")))
    return Operations(0, int(name == "arith.select"), 0)
