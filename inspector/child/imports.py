"""Reports when a module has been imported. Light: loaded at interpreter start."""

import _frozen_importlib
import _frozen_importlib_external
import _thread
import sys
import time
from _thread import _local as local_of_thread  # `threading.local`, without importing threading
from collections.abc import Callable, Iterable, Sequence

from inspect_compile.outermost import guarded

TYPE_CHECKING = False  # importing `typing` takes longer than all of this
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_OWN = "inspect_compile"
OURS = frozenset({_OWN, "msgspec", "resource"})
"""Packages that nobody but us may import in a program: ours, and what they need beside modules that torch imports."""
IMPORT_SYSTEM = "<frozen importlib._bootstrap>"
REMOVED = "_call_with_frames_removed"
"""The function of the import system whose frame Python removes from a traceback, with those of the import before it."""

LONG = 0.01
"""Seconds from which on an import is told."""


class ImportWatch:
    """Hooks the import system where it loads what any finder has found, a program's own finders included.

    Before a module named `gate` is loaded, `opened` returns which modules to watch; after each of those has run,
    `imported` is called with its name. `took` is called with name, start and seconds, as one tuple, of each import that
    took long and is not a part of another one; it should be no function written in Python, since Dynamo looks at each
    one that runs while it watches a frame. `passed` is called once, after `took` was told of the import that loaded
    `gate`. `touch` is called before a module is imported that no other one imports, and after it if that took long. It
    leaves nothing behind in those modules or in `sys.meta_path`, and no frame on the stack while a module is
    found and loaded. What is raised in a callback and is the program's own propagates to the importer as if the module
    had raised it.
    """

    def __init__(
        self,
        gate: str,
        opened: "Callable[[], Iterable[str]]",
        imported: "Callable[[str], None]",
        took: "Callable[[tuple[str, float, float]], None] | None" = None,
        passed: "Callable[[], None] | None" = None,
        touch: "Callable[[], None] | None" = None,
    ) -> None:
        self._gate: str | None = gate
        self._opened = opened
        self._imported = imported
        self._took = took
        self._passed = passed
        self._touch = touch
        self._awaited: set[str] = set()

    def install(self) -> None:
        """Begin to watch."""
        system: Any = _frozen_importlib
        lock_of = system._ModuleLockManager  # made before a module is found, and left when it was loaded or failed
        plain_begin, plain_leave, plain_make = lock_of.__init__, lock_of.__exit__, system._new_module
        took, touch, now, local = self._took, self._touch, time.time, local_of_thread()
        partition, remove = str.rpartition, _remove

        def begin(lock: "Any", name: str) -> None:
            plain_begin(lock, name)
            if name not in sys.modules:
                loading = getattr(local, "loading", ())
                if not loading and touch is not None:
                    touch()
                # A package is imported on behalf of its module, and is no part of it.
                if not loading or partition(loading[-1][1], ".")[0] == name:
                    local.loading = (*loading, (lock, name, now()))

        def make(name: str) -> "ModuleType":
            if name == self._gate:
                local.is_passing = True
                guarded(self.open)
            module: ModuleType = plain_make(name)
            return module

        def leave(lock: "Any", kind: "type[BaseException] | None" = None, *raised: "Any") -> None:
            name = lock._name
            is_awaited = False
            try:
                if kind is None and name == self._gate:  # its loader has made the module
                    local.is_passing = True
                    guarded(self.open)
                if kind is None and name in self._awaited:
                    is_awaited = True
                    self._awaited.discard(name)
                    guarded(self._imported, name)
            except BaseException:
                # As if the module itself had raised: it is not there, and may be imported again.
                guarded(remove, name)
                if is_awaited:
                    self._awaited.add(name)
                raise
            finally:
                plain_leave(lock, kind, *raised)
                loading = getattr(local, "loading", ())
                if loading and loading[-1][0] is lock:
                    local.loading = loading[:-1]
                    start, end = loading[-1][2], now()
                    if end - start >= LONG and took is not None:
                        took((name, start, end - start))
                        if not local.loading and touch is not None:
                            touch()
                    if loading[:-1]:
                        local.loading = (*loading[:-2], (*loading[-2][:2], end))
            if kind is None and not getattr(local, "loading", ()) and getattr(local, "is_passing", False):
                local.is_passing = False
                if self._passed is not None:
                    guarded(self._passed)

        # As frames of the import system they are left out of tracebacks and of the frames that warnings count.
        for hook in (begin, make, leave):
            hook.__code__ = hook.__code__.replace(co_filename=IMPORT_SYSTEM, co_name=REMOVED)
        lock_of.__init__, lock_of.__exit__, system._new_module = begin, leave, make
        if self._gate in sys.modules:
            guarded(self.open)

    def open(self) -> None:
        """Watch the modules behind the gate; those that are already imported are reported at once."""
        names = list(self._opened())
        self._gate = None
        there = [name for name in names if name in sys.modules]
        self._awaited.update(name for name in names if name not in sys.modules)
        for name in there:
            self._imported(name)


def _remove(name: str) -> None:
    """Leave a module as if it had never been loaded: its package would go on handing it out."""
    sys.modules.pop(name, None)
    package, _, child = name.rpartition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(child, None)


class FoundAsAtStart:
    """A block in which this thread finds modules below `path` first, and by the `finders` that there were: none of the
    program's has the name of ours, and no finder of the program's is asked for it.

    With `only`, that holds for these packages alone: others are found as the program finds them.
    """

    def __init__(
        self, path: "Sequence[str]", finders: "Sequence[Any]" = (), only: "frozenset[str]" = frozenset()
    ) -> None:
        self._path = path
        self._finders = finders
        self._only = only
        self._thread = _thread.get_ident()

    def __enter__(self) -> None:
        sys.meta_path.insert(0, self)

    def __exit__(self, *_: object) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: "Sequence[str] | None" = None, _: object = None) -> "Any":
        """As the import system asks it."""
        package = name.partition(".")[0]
        if _thread.get_ident() != self._thread or (self._only and package not in self._only):
            return None
        found = (
            _frozen_importlib.BuiltinImporter.find_spec(name, path)
            or _frozen_importlib.FrozenImporter.find_spec(name, path)
            or _frozen_importlib_external.PathFinder.find_spec(name, self._path if path is None else path)
        )
        if found is None and package == _OWN:  # installed so that files are used where they lie, it has its own finder
            found = next(filter(None, (finder.find_spec(name, path) for finder in self._finders)), None)
        if found is None and package != _OWN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found
