"""The graph that AOTAutograd is given, as plain values: what its nodes are called, and the calls that led to each."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspect_compile.facts import Location
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.fx_nodes import nested_modules

_DEEPEST = 8


class DynamoGraph(NamedTuple):
    """`nodes`: name, and index of its stack in `stacks` or -1; those of nested graphs follow, with their path."""

    nodes: tuple[tuple[str, int], ...]
    stacks: tuple[tuple[Location, ...], ...]


def dynamo_graph(module: Any) -> DynamoGraph | None:
    """The graph of a GraphModule; None for anything else."""
    if not hasattr(getattr(module, "graph", None), "nodes"):
        return None
    numbers: dict[str, int] = {}
    nodes = tuple(
        (name, numbers.setdefault(trace, len(numbers)) if trace else -1) for name, trace in _traces(module, "", 0)
    )
    return DynamoGraph(nodes, tuple(values.locations(trace) for trace in numbers))


def _traces(module: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    for node in module.graph.nodes:
        yield f"{path}{node.name}", node.meta.get("stack_trace") or ""
    if depth < _DEEPEST:
        for name, inner in nested_modules(module):
            yield from _traces(inner, f"{path}{name}/", depth + 1)


def hints(inputs: Any) -> tuple[str, ...]:
    """The values that symbolic sizes among the inputs have: no key of torch's holds them."""
    return tuple(str(values.hint(one)) for one in inputs if type(one) is not int and hasattr(one, "node"))
