"""What is made of graphs once, and kept with their dump until it has more rows."""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, overload

from inspect_compile.dump import Dump


class _OfDump(Protocol):
    @property
    def dump(self) -> Dump: ...
    @property
    def name(self) -> str | None: ...


G = TypeVar("G", bound=_OfDump)
T = TypeVar("T")


class Once(Generic[G, T]):
    """Decorates a function of graphs, or a method of them without arguments, which becomes a property."""

    def __init__(self, make: Callable[[G], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __call__(self, graphs: G) -> T:
        """What it returns for these graphs, which nobody may change."""
        known = graphs.dump.derived.setdefault(graphs.name, {})
        if self not in known:
            known[self] = self._make(graphs)
        found: T = known[self]
        return found

    @overload
    def __get__(self, graphs: None, of: type) -> "Once[G, T]": ...
    @overload
    def __get__(self, graphs: G, of: type) -> T: ...
    def __get__(self, graphs: Any, of: type) -> Any:
        return self if graphs is None else self(graphs)
