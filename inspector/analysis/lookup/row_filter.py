"""Filters rows by what a person names: a node, buffer, operation, kernel or source line `file.py:12`."""

from collections.abc import Iterator

import msgspec

from inspect_compile.facts import Access, Edit, Location, Node
from inspect_compile.graph import enclosing, file_name, operations_in, own_name, short


class NodeName(str):
    """A name that means exactly one FX node, and nothing else of that name, such as its readers."""

    __slots__ = ()


def matches(row: msgspec.Struct, names: tuple[str, ...]) -> bool:
    """True if `row` involves all of `names`. The name of a fused node also matches each of its operations."""
    if not names:
        return True
    found = set(_names(row))
    return all(_is_of_node(row, name) if isinstance(name, NodeName) else name in found for name in names)


def _is_of_node(row: msgspec.Struct, name: str) -> bool:
    """True if `row` is about the node `name`, given with its nested graph (`true_graph_0/add`) or without.

    A row that has no node field matches if the node is among its origins.
    """
    graph, bare = enclosing(name), own_name(name)
    if graph and not str(getattr(row, "graph", "")).endswith(f"/{graph}"):
        return False
    if isinstance(row, Node):
        return row.name == bare
    if hasattr(row, "node"):
        return bare in (row.node, getattr(row, "origin", None))
    return bare in _names(row)


def _names(row: msgspec.Struct) -> Iterator[str]:
    for field in row.__struct_fields__:
        yield from _words(getattr(row, field))


def _words(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
            if ".py:" in value:
                yield file_name(value)
            if value.startswith("%"):
                yield value[1:]
            if "_op" in value:
                yield from operations_in(value)
        case Location():
            yield f"{value.file.replace(chr(92), '/')}:{value.line}"
            yield short(value)
        case Access():
            yield value.buffer
        case Edit():
            yield value.node
        case tuple() | list():
            for item in value:
                yield from _words(item)
