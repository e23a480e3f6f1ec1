"""What is made of a dump's rows once, because several views want the same."""

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from inspect_compile.dump import Dump

T = TypeVar("T")


class CountedOnce(Generic[T]):
    """One kind of result: of each graph of each dump the last one, and of how many rows it was made."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Dump, dict[str, tuple[tuple[int, ...], T]]] = weakref.WeakKeyDictionary()

    def of(self, dump: Dump, graph: str, extent: tuple[int, ...], make: Callable[[], T]) -> T:
        """That of `graph`; made again when `extent`, the lengths of the tables, is no longer what it was."""
        known = self._known.setdefault(dump, {})
        if graph not in known or known[graph][0] != extent:
            known[graph] = extent, make()
        return known[graph][1]
