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

LONG = 0.01
"""Seconds from which on an import is told."""


class ImportWatch:
    """Hooks the import system where it loads what any finder has found, a program's own finders included.

    Before a module named `gate` is loaded, `opened` returns which modules to watch; after each of those has run,
    `imported` is called with its name. `took` is called with name, start and seconds, as one tuple, of each import that
    took long and is not a part of another one; it should be no function written in Python, since Dynamo looks at each
    one that runs while it watches a frame. `passed` is called once, after `took` was told of the import that loaded
    `gate`. It leaves nothing behind in those modules or in `sys.meta_path`. What is raised in a callback and is the
    program's own propagates to the importer as if the module had raised it.
    """

    def __init__(
        self,
        gate: str,
        opened: "Callable[[], Iterable[str]]",
        imported: "Callable[[str], None]",
        took: "Callable[[tuple[str, float, float]], None] | None" = None,
        passed: "Callable[[], None] | None" = None,
    ) -> None:
        self._gate: str | None = gate
        self._opened = opened
        self._imported = imported
        self._took = took
        self._passed = passed
        self._awaited: set[str] = set()

    def install(self) -> None:
        """Begin to watch."""
        system: Any = _frozen_importlib
        plain = system._load_unlocked
        took, now, local = self._took, time.time, local_of_thread()

        def load(spec: "Any") -> "ModuleType":
            name = spec.name
            if name == self._gate:
                guarded(self.open)
            module: ModuleType = plain(spec)
            if name in self._awaited:
                self._awaited.discard(name)
                try:
                    guarded(self._imported, name)
                except BaseException:
                    # As if the module itself had raised: it is not in sys.modules, and may be imported again.
                    sys.modules.pop(name, None)
                    self._awaited.add(name)
                    raise
            return module

        def timed(spec: "Any") -> "ModuleType":
            if getattr(local, "is_inside", False):
                return load(spec)
            local.is_inside, start, was_closed = True, now(), self._gate is not None
            try:
                module = load(spec)
            finally:
                local.is_inside = False
                if (seconds := now() - start) >= LONG and took is not None:
                    took((spec.name, start, seconds))
            if was_closed and self._gate is None and self._passed is not None:
                guarded(self._passed)
            return module

        # As frames of the import system they are left out of tracebacks and of the frames that warnings count.
        for one in (load, timed):
            one.__code__ = one.__code__.replace(co_filename=IMPORT_SYSTEM)
        system._load_unlocked = load if took is None else timed
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
