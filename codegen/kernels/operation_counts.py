"""Counts the operations of a kernel after common subexpression elimination.

An operation of a loop's body counts if it created a new variable, not if it reused one. It is done once for each
element of that variable: Triton's variables have shapes of blocks, those of C++ are in the innermost loop.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import sympy

from inspect_compile.knowledge.cost.kernel_operations import REDUCTION, WELFORD, WELFORD_AT_ONCE, runs_over_all
from inspect_compile.lowering.core.scopes import current_graph
from inspect_compile.probe import let_pass

_BLOCK: Final = "BLOCK"
FLOATS: Final = ("float64", "float32", "bfloat16", "float16")

_UNBACKED: Final = ("u", "zuf")
"""Prefixes of symbols whose value is known only at run time."""

Node = tuple[str, str]
"""Graph and name of an FX node."""


@dataclass
class Computed:
    """The operations of one kernel so far; plain values."""

    shapes: dict[tuple[str, str, str, int], tuple[Node, tuple[int | str, ...] | None]] = field(default_factory=dict)
    """(scheduler node, operator, the operation's name, its graph) → the FX node, and the shape of the result."""
    dtypes: set[Any] = field(default_factory=set)
    """torch dtypes."""

    def made(self, scheduled: str, operator: str, operation: Any, node: Node, variable: Any) -> None:
        """`operation` created a new variable."""
        key = scheduled, operator, operation.name, id(operation.graph)
        shape = getattr(variable, "shape", None)
        known = self.shapes.get(key)
        if known is None or known[1] is None or (shape is not None and len(known[1]) <= len(shape)):
            self.shapes[key] = node, None if shape is None else tuple(shape)
        dtype = getattr(variable, "dtype", None)
        if dtype is not None:
            self.dtypes.add(dtype)

    @property
    def dtype(self) -> str:
        """The widest floating type that it computes in."""
        known = {str(dtype).removeprefix("torch.") for dtype in self.dtypes}
        return next((dtype for dtype in FLOATS if dtype in known), "")


def operator_of(operation: Any, name: str, *, is_at_once: bool) -> str:
    """The operator, with the kind for a reduction; `is_at_once`: the kernel holds all values of a row."""
    if name != "reduction":
        return name
    kind = operation.args[3] if len(operation.args) > 3 else operation.kwargs.get("reduction_type")
    found = f"{REDUCTION}{kind}"
    return WELFORD_AT_ONCE if is_at_once and found == WELFORD else found


def totals(
    parts: Iterable[Computed], ranges: Mapping[str, tuple[Any, Any]], numels: Mapping[str, Any]
) -> Counter[tuple[str, Node, Any]]:
    """(operator, FX node, elements) → count; `ranges`: the iterations of each scheduler node, and its rows.

    C++ has several versions of a scheduler node: the first one counts.
    """
    found: Counter[tuple[str, Node, Any]] = Counter()
    seen: set[str] = set()
    rows = {name: outer for name, (_, outer) in ranges.items()}
    for part in parts:
        there = {scheduled for scheduled, *_ in part.shapes} - seen
        for (scheduled, operator, _, _), (node, shape) in part.shapes.items():
            if scheduled in there:
                all_of_it = ranges.get(scheduled, (None, None))[0]
                elements = None if shape is None or runs_over_all(operator) else _elements(shape, numels)
                elements = all_of_it if elements is None else elements
                if elements is not None:
                    found[operator, node, elements] += 1
                if operator == WELFORD_AT_ONCE and scheduled in rows:
                    found["truediv", node, rows[scheduled]] += 1  # the mean
        seen |= there
    return found


def _elements(shape: tuple[int | str, ...], numels: Mapping[str, Any]) -> Any:
    """Elements of a shape such as `("XBLOCK", 1)`; None if it is not a block of a loop."""
    found = sympy.S.One
    for length in shape:
        text = str(length)
        if text.isdigit():
            found *= int(text)
            continue
        prefix = text.removesuffix(_BLOCK).lower()
        if not text.endswith(_BLOCK) or prefix not in numels:
            return None
        found *= numels[prefix]
    return found


def ranges_of(nodes: Iterable[Any]) -> dict[str, tuple[Any, Any]]:
    """Scheduler node → its number of iterations, and of results if it reduces."""
    found: dict[str, tuple[Any, Any]] = {}
    for node in nodes:
        body = getattr(node, "_body", None)
        if body is not None:
            outer = math.prod(body.sizes[0], start=sympy.S.One)
            found[node.get_name()] = math.prod(body.sizes[1], start=outer), outer
    return found


def described(elements: Any) -> tuple[str, int | None]:
    """A number of elements as text, and at the hints of its symbols."""
    if getattr(elements, "is_Integer", False):
        return str(elements), int(elements)
    sizes = current_graph().sizevars
    elements = sizes.remove_precomputed_replacements(elements)
    if any(symbol.name.startswith(_UNBACKED) for symbol in elements.free_symbols):
        return str(elements), None
    try:
        ask = sizes.optimization_hint if hasattr(sizes, "optimization_hint") else sizes.size_hint
        return str(elements), int(ask(elements))
    except (AttributeError, TypeError, ValueError, AssertionError, RuntimeError) as error:
        let_pass(error)
        return str(elements), None
