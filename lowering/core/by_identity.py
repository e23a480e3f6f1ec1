"""What is known of objects, by their identity, for as long as they live."""

import functools
import weakref
from typing import Any, Generic, TypeVar

Known = TypeVar("Known")


class ByIdentity(Generic[Known]):
    """Like a WeakKeyDictionary, which hashes and compares its keys: in a third of the time."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], Known]] = {}

    def get(self, one: Any) -> Known | None:
        """What is known of that object."""
        found = self._known.get(id(one))
        return found[1] if found is not None and found[0]() is one else None

    def __setitem__(self, one: Any, known: Known) -> None:
        key = id(one)
        self._known[key] = weakref.ref(one, functools.partial(self._known.pop, key)), known

    def __len__(self) -> int:
        return len(self._known)
