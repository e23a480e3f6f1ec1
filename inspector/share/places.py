"""Short names for directories that say nothing about the machine, and stay distinct."""

import posixpath
import re
from typing import Final, NamedTuple

from inspect_compile.share.patterns import places
from inspect_compile.share.secrets import Secrets, is_absolute, plain

_PACKAGES: Final = re.compile(r".*/((?:site|dist)-packages/.+)", re.DOTALL)
_PYTHON: Final = re.compile(r".*/lib(?:64)?/(python3(?:\.\d+)?t?/.+)", re.DOTALL)
_TORCH: Final = re.compile(
    r".*?/(torch/(?:_[a-z]\w*|autograd|csrc|cuda|distributed|export|functional|fx|jit|nn|onnx|optim|utils)[/.].*)",
    re.DOTALL,
)
_SYSTEM: Final = re.compile(
    r"/(?:usr/(?:s?bin|include|lib(?:32|64|exec)?|share|local/cuda[\w.-]*)|s?bin|lib(?:32|64)?|proc|sys|dev)/"
)
"""Paths that are the same on every machine."""
_CODE: Final = re.compile(
    r"\.(?:py[icx]?|c|cc|cpp|cxx|h|hh|hpp|cu|cuh|s|so|o|a|ttir|ttgir|llir|ptx|cubin|json|jsonl|txt|log)(?:\.\d+)*"
)


class _Root(NamedTuple):
    path: str
    short: str
    is_deep: bool
    """True if the paths below it are kept: only for the program's own directories, and caches."""


class PathShortener:
    """Short forms of paths. Distinct directories get distinct ones, numbered in the order of requests."""

    def __init__(self, secrets: Secrets) -> None:
        self._known = re.compile(places((*secrets.homes, *secrets.cwds, *secrets.programs)), re.IGNORECASE)
        self._numbers: dict[str, int] = {}
        roots: dict[str, _Root] = {}
        wide = {*secrets.homes, *secrets.temporaries}
        for paths, short, is_deep in (
            (secrets.programs, "~program", True),
            (secrets.cwds, "~cwd", True),
            (secrets.caches, "~cache", True),
            (secrets.homes, "~home", False),
            (secrets.temporaries, "~tmp", False),
        ):
            for number, path in enumerate((path for path in paths if path not in roots), 1):
                name = short if number == 1 or short == "~tmp" else f"{short}{number}"
                is_wide = any(f"{other}/".startswith(f"{path}/") for other in wide)
                roots[path] = _Root(path, name, is_deep and not is_wide)
        self._roots = sorted(roots.values(), key=lambda root: (-len(root.path), root.path))

    def short(self, path: str) -> str:
        """The short form of an absolute path; a system path, which is the same on every machine, is unchanged."""
        whole = plain(_expanded(path))
        if not whole:
            return path
        found = self._short(whole)
        return found if found != whole else path

    def _short(self, whole: str) -> str:
        for pattern in (_PACKAGES, _PYTHON, _TORCH):
            if (match := pattern.fullmatch(whole)) and not self._tells(match[1]):
                return f"~env/{match[1]}"
        for root in self._roots:
            below = _below(whole, root.path)
            if below is None:
                continue
            if not below:
                return root.short
            return f"{root.short}/{below if root.is_deep and not self._tells(below) else self._numbered(whole, below)}"
        if _SYSTEM.match(whole):
            return whole
        return self._numbered(whole, whole)

    def _numbered(self, whole: str, below: str) -> str:
        """`dir-3/model.py`: a number for the directory. A file that is no code may have any name: it gets a
        number too.
        """
        folder, _, name = whole.rpartition("/")
        prefix = "~" if is_absolute(below) else ""
        if _CODE.fullmatch(posixpath.splitext(name)[1]) and not self._tells(name):
            return name if "/" not in below else f"{prefix}dir-{self._number(folder)}/{name}"
        return f"{prefix}dir-{self._number(whole)}"

    def _number(self, folder: str) -> int:
        return self._numbers.setdefault(folder, len(self._numbers) + 1)

    def _tells(self, below: str) -> bool:
        """True if the path below a directory contains the name of one of the directories again."""
        return self._known.search(f"/{below}") is not None


def _below(path: str, root: str) -> str | None:
    """`path` relative to `root`, ignoring case as on Windows and macOS; None if it is not inside."""
    begin, rest = path[: len(root)], path[len(root) :]
    return rest[1:] if begin.lower() == root.lower() and rest[:1] in ("", "/") else None


def _expanded(path: str) -> str:
    return f"/~home{path[1:]}" if path.startswith("~/") else path
