"""The free symbols of a graph: what each stands for, and what torch knows about it."""

from collections.abc import Iterator
from typing import Any

from inspect_compile.facts import Location, Symbol
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import Scope


def symbols(scope: Scope, graph: Any) -> Iterator[Symbol]:
    """The symbols in the values of a GraphLowering's FX nodes, in order of appearance.

    Nothing is compared, which would install guards: only names and ranges are read.
    """
    shape_env = graph._shape_env
    if not shape_env.var_to_range:
        return
    first: dict[Any, Location | None] = {}
    own: dict[str, list[Any]] = {}
    for node in graph.module.graph.nodes:
        here = own[node.name] = _symbols(node.meta.get("val"))
        where = scope.where.get(node.name) if node.op == "call_function" else None
        for symbol in (*here, *(symbol for source in node.all_input_nodes for symbol in own[source.name])):
            if first.get(symbol) is None:
                first[symbol] = where
    for symbol, where in first.items():
        bounds = shape_env.var_to_range.get(symbol)
        sources = shape_env.var_to_sources.get(symbol, ())
        known = shape_env.backed_var_to_val.get(symbol, "")
        yield Symbol(
            graph=scope.graph,
            name=str(symbol),
            hint=str(known),
            lower="" if bounds is None else str(bounds.lower),
            upper="" if bounds is None else str(bounds.upper),
            source=next((source_name(source) for source in sources), ""),
            where=where,
        )


def _symbols(value: Any) -> list[Any]:
    """The symbols of a value, by name."""
    lengths = [value] if hasattr(value, "node") else []
    for tensor in values.tensors(value):
        lengths += [*tensor.shape, *(tensor.stride() if str(tensor.layout) == "torch.strided" else ())]
    found = {symbol for length in lengths if type(length) is not int for symbol in _free(length)}
    return sorted(found, key=str)


def _free(length: Any) -> Any:
    node = getattr(length, "node", None)
    return getattr(getattr(node, "expr", None), "free_symbols", ())


def source_name(source: Any) -> str:
    """`L['x'].size()[0]`; a property from torch 2.11 on, of some sources a method."""
    name = source.name
    return str(name() if callable(name) else name)
