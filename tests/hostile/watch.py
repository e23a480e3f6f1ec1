"""What holds for whatever is shown of a dump, and the guard that says so."""

import os
import re
import signal
import sys
import sysconfig
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from inspect_compile.errors import CommandError
from tests.hostile.views import VIEWS

STEERS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but line feed and tab, what turns the direction of writing, halves of characters."""

SECONDS: Final = 60
"""A view that takes longer hangs: the slowest here takes half a second, on a machine with nothing else to do."""

PYTHON: Final = tuple(
    str(Path(path).resolve())
    for path in {*filter(None, sys.path), *sysconfig.get_paths().values(), str(Path(__file__).parents[2])}
)
"""Where code may come from."""

RUNS: Final = frozenset(
    {"os.exec", "os.fork", "os.posix_spawn", "os.system", "pickle.find_class", "socket.connect", "subprocess.Popen"}
)
"""What no view of a dump does (`draw` runs Graphviz, on texts of ours: it is not asked to here)."""

_watched: list["Watch"] = []


class TooSlow(BaseException):
    """A view hangs; no Exception, so that nothing takes it for a fault of its own."""


class Watch:
    """What was done while a dump was looked at."""

    def __init__(self, root: Path) -> None:
        self._allowed = (str(root.parent.resolve()), *PYTHON)
        self.wrong: list[str] = []

    def heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note what must not be."""
        match event, arguments:
            case "open", (str() | bytes() as path, "x", *_):  # made anew: a link in its place is not followed
                self._is_ours("open", os.path.dirname(os.fsdecode(path)))
            case "open", (str() | bytes() as path, *_):
                self._is_ours("open", os.fsdecode(path))
            case "exec", (types.CodeType() as code, *_) if not code.co_filename.startswith("<"):
                self._is_ours("exec", code.co_filename, PYTHON)
            case _ if event in RUNS:
                self.wrong.append(f"{event} {arguments!r}")

    def _is_ours(self, what: str, path: str, allowed: tuple[str, ...] | None = None) -> None:
        where = os.path.realpath(path)
        if not where.startswith(allowed or self._allowed):
            self.wrong.append(f"{what} {where}")


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    for watch in _watched:
        watch.heard(event, arguments)


sys.addaudithook(_hook)


@contextmanager
def watched(root: Path) -> Iterator[None]:
    """Nothing outside of the directory that the dump stands in is opened meanwhile, and nothing of it is run."""
    watch = Watch(root)
    _watched.append(watch)
    try:
        yield
    finally:
        _watched.remove(watch)
    assert not watch.wrong, watch.wrong


@contextmanager
def in_time() -> Iterator[None]:
    """An exception, and no test that never ends, where a view hangs."""

    def hangs(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def look(root: Path, *names: str) -> dict[str, str]:
    """Look at a dump through each view, or those named: a text, or one line that says why there is none."""
    found = {}
    for name in names or VIEWS:
        with watched(root), in_time():
            try:
                texts = list(VIEWS[name](root))
            except CommandError as error:
                texts = [str(error)]
                assert "\n" not in texts[0]
        for text in texts:
            steers = STEERS.search(text)
            assert steers is None, f"{name}: {text[max(0, steers.start() - 60) : steers.end() + 20]!r}"
        found[name] = "\n".join(texts)
    return found
