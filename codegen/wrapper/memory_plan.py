"""What the wrapper's memory plan knows besides its lines: bytes, pools, inputs and outputs."""

from typing import Any

from inspect_compile.facts import MemoryPlan
from inspect_compile.lowering.core.scopes import current_graph, torch_object
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import codegen as names

_NO_TENSORS = ("NoneAsConstantBuffer", "ShapeAsConstantBuffer")
"""Outputs that torch names as if they were buffers."""
_PARTS = 3
"""Maximum depth of a tuple of tuples."""


def memory_plan(graph: str, wrapper: Any) -> MemoryPlan:
    """The memory plan of the wrapper that has just been planned."""
    lowering = current_graph()
    inputs = {name: _input(value) for name, value in lowering.graph_inputs.items()}
    estimate = getattr(getattr(wrapper, "estimate_peak", None), "overall_peak_memory", None)
    return MemoryPlan(
        graph=graph,
        inputs={name: size or 0 for name, (size, _) in inputs.items()},
        donated=tuple(name for name, (_, donated) in inputs.items() if donated),
        frees_tangents=bool(getattr(lowering, "is_backward", False)) and torch_object(names.BOXED_GRADS) is not None,
        outputs=tuple(
            "" if type(value).__name__ in _NO_TENSORS else str(name)
            for name, value in zip(lowering.get_output_names(), lowering.graph_outputs, strict=True)
        ),
        estimate=int(estimate) if isinstance(estimate, int) else None,
    )


def _input(value: Any) -> tuple[int | None, bool]:
    """Bytes of a tensor input, and whether nobody else holds it."""
    while type(value).__name__ in ("TensorBox", "StorageBox"):  # boxes forward to their contents
        value = value.data
    return (node_bytes(value) if hasattr(value, "layout") else None), type(value).__name__ == "DonatedBuffer"


def node_bytes(node: Any) -> int | None:
    """Bytes that a buffer's allocation takes, including padding and strides; symbols at their hints."""
    try:
        return hinted(current_graph().get_allocation_storage_size(node)) * int(node.get_dtype().itemsize)
    except (AttributeError, NotImplementedError, AssertionError, TypeError) as error:
        let_pass(error)
        return None  # tuples and None layouts have no allocation


def hinted(length: Any) -> int:
    """A size at the hints of its symbols."""
    if type(length) is int or getattr(length, "is_Integer", False):
        return int(length)
    sizes = current_graph().sizevars
    ask = sizes.optimization_hint if hasattr(sizes, "optimization_hint") else sizes.size_hint
    return int(ask(length, fallback=0))


def result_of(node: Any) -> dict[str, Any]:
    """What an extern call that allocates its result returns: a view of an input, or several tensors."""
    found: dict[str, Any] = {}
    if aliased := [str(name) for name in node.get_inputs_that_alias_output()]:
        found["aliases"] = tuple(aliased)
    parts = {part.get_name(): node_bytes(part) or 0 for part in _parts(getattr(node, "outputs", None), _PARTS)}
    parts.pop(node.get_name(), None)
    if parts:
        found["parts"] = parts
    return found


def _parts(outputs: Any, depth: int) -> list[Any]:
    if isinstance(outputs, (list, tuple)):
        return [part for output in outputs for part in (_parts(output, depth - 1) if depth else ())]
    return [outputs] if hasattr(outputs, "get_name") and hasattr(outputs, "layout") else []


def in_pool(line: Any) -> dict[str, Any]:
    """The pool of a line that takes memory from one, or returns it."""
    pool = line.group.allocation.pool
    found: dict[str, Any] = {"pool": str(pool.name)}
    if getattr(line, "is_first_pool_usage", False):
        found["pool_bytes"] = hinted(pool.root.get_symbolic_size())
    if getattr(line, "is_last_pool_usage", False):
        found["is_last"] = True
    return found
