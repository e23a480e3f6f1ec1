"""What the fixture gives to a test: captures, each with assertions, and contracts on disk."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from inspect_compile.testing.assertions import Compiled

_UNSAFE: Final = re.compile(r"[^\w.\-\[\]]+")


class Locks:
    """The contracts of one test."""

    def __init__(self, folder: Path, test: str, root: str, *, is_update: bool) -> None:
        self._stem = _UNSAFE.sub("_", test)
        self._folder = folder
        self._root = root
        self._is_update = is_update
        self._count = 0

    def hold(self, compiled: Compiled) -> None:
        """Compare the next capture with its contract, or write that. Raises AssertionError."""
        __tracebackhide__ = True
        self._count += 1
        number = f"-{self._count}" if self._count > 1 else ""
        compiled.assert_lock(self._folder / f"{self._stem}{number}.lock", update=self._is_update)


class InspectCompile:
    """The fixture."""

    def __init__(self, folder: Path, root: str, locks: Locks | None) -> None:
        self._folder = folder
        self._root = root
        self._locks = locks
        self._count = 0

    @contextmanager
    def capture(self, *, recompile: bool = True, numerics: bool | Mapping[str, object] = False) -> Iterator[Compiled]:
        """Record what is compiled inside the block; `recompile` makes torch forget what was compiled before, so that
        the order of tests does not count. `numerics`: as of `inspect_compile.capture`.
        """
        __tracebackhide__ = True
        from inspect_compile import capture

        self._count += 1
        place = self._folder / f"dump_{self._count}"
        compiled = Compiled(place, self._root)
        with capture(place, recompile=recompile, level="facts", numerics=numerics) as dump:
            yield compiled
        compiled.open(dump.root)
        if self._locks is not None:
            self._locks.hold(compiled)
