"""Caches results computed from a dump's rows, for views that need the same ones."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from inspect_compile.dump import Dump

T = TypeVar("T")


class ResultCache(Generic[T]):
    """A cache of one kind of result: for each graph of each dump the latest one, with the number of rows it was made
    from.
    """

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Dump, dict[str, tuple[tuple[int, ...], T]]] = weakref.WeakKeyDictionary()

    def of(self, dump: Dump, graph: str, extent: tuple[int, ...], make: Callable[[], T]) -> T:
        """The result for `graph`, computed again by `make` when `extent`, the lengths of the tables, has changed."""
        known = self._known.setdefault(dump, {})
        if graph not in known or known[graph][0] != extent:
            known[graph] = extent, make()
        return known[graph][1]
