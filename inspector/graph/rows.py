"""The rows of a compiled graph that many ask for: picked, in order, and grouped by a key."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from inspect_compile.facts import Node, Symbol

if TYPE_CHECKING:
    pass

Phase: TypeAlias = Literal["pre_fusion", "post_fusion"]

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def grouped(rows: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Key → the rows that have it. Keys and rows keep their order."""
    found: dict[K, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def gathered(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Key → the values that come with it. Keys and values keep their order."""
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def shared_fields(row: msgspec.Struct, kind: type[msgspec.Struct], *without: str) -> dict[str, Any]:
    """The values of the fields that `row` has in common with records of `kind`, but for those in `without`."""
    both = set(row.__struct_fields__).intersection(kind.__struct_fields__).difference(without)
    return {name: getattr(row, name) for name in both}


def hints_of(rows: tuple[Symbol, ...]) -> dict[str, int]:
    """Symbol → its hint."""
    return {row.name: int(row.hint) for row in rows if row.hint.isdecimal() and len(row.hint) < 19}


def matched_inputs(ours: Sequence[Node], theirs: Sequence[Node]) -> dict[str, Node]:
    """Placeholder of a later graph → placeholder of Dynamo's graph; empty if that is not certain.

    AOTAutograd takes Dynamo's inputs in order and records no names. The order is trusted only if both have the same
    number of inputs and each agrees in type and shape.
    """
    if len(ours) != len(theirs) or not all(map(_is_like, ours, theirs)):
        return {}
    return {one.name: other for one, other in zip(ours, theirs, strict=True)}


def _is_like(one: Node, other: Node) -> bool:
    return [(value.dtype, value.size) for value in one.values] == [(value.dtype, value.size) for value in other.values]
