"""Tells when a module has been imported. Light: loaded at interpreter start."""

import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType

TYPE_CHECKING = False  # the module `typing` takes longer to load than all of this
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

_IMPORT_SYSTEM = "<frozen importlib._bootstrap>"


class ImportWatch:
    """A finder at the head of `sys.meta_path` that finds nothing itself.

    Before a module named `gate` is looked for, `opened` says which modules to watch; after each of those has run,
    `imported` is called with its name. What it leaves behind in those modules is nothing: their loader and spec are the
    ones that a plain run has.
    """

    def __init__(self, gate: str, opened: "Callable[[], Iterable[str]]", imported: "Callable[[str], None]") -> None:
        self._gate: str | None = gate
        self._opened = opened
        self._imported = imported
        self._awaited: set[str] = set()

    def install(self) -> None:
        """Begin to watch."""
        sys.meta_path.insert(0, self)
        if self._gate in sys.modules:
            self.open()

    def open(self) -> None:
        """Watch the modules behind the gate; those that have been imported already are told at once."""
        self._gate = None
        names = list(self._opened())
        there = [name for name in names if name in sys.modules]
        self._awaited.update(name for name in names if name not in sys.modules)
        for name in there:
            self._imported(name)

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Part of the import system's protocol. Whatever goes wrong here, the import goes its plain way."""
        if name == self._gate:
            try:
                self.open()
            except Exception:
                return None
        if name not in self._awaited:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
            if spec is not None:
                # A loader that is a class serves many modules; those of torch are objects of their own.
                if spec.loader is not None and not isinstance(spec.loader, type):
                    self._follow(spec.loader, name)
                return spec
        return None

    def _follow(self, loader: "Any", name: str) -> None:
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module
            plain(module)
            self._done(name)

        # Taken for a frame of the import system, it is left out of tracebacks and of the frames that warnings count.
        exec_module.__code__ = exec_module.__code__.replace(co_filename=_IMPORT_SYSTEM)
        loader.exec_module = exec_module

    def _done(self, name: str) -> None:
        if name in self._awaited:
            self._awaited.discard(name)
            self._imported(name)
