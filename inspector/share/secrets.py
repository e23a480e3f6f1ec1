"""What a dump says about its person and machine. Pure: it is given the contents of the dump."""

import builtins
import keyword
import posixpath
import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from inspect_compile.facts import Run
from inspect_compile.share import patterns

_PATHS: Final = frozenset({"file", "path", "cwd", "where"})
_OPERATORS: Final = re.compile(r"(?:aten|prims|inductor|(?>\w*?c10d)|torch(?!\.ops))[\w.:]*")
_WORD: Final = re.compile(r"[^\W_]+")
_DTYPE: Final = re.compile(r"(?:b?float|u?int|complex|fp|bf|fx)\d\w*|(?:cuda|cpu|xpu|mps|hip)(?::\d+)?")
_CACHES: Final = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "TORCH_HOME")
_COMMANDS: Final = re.compile(r"/(?:usr/(?:local/)?)?s?bin")
"""The system's directories for commands, on every machine."""
TEMPORARY: Final = ("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm")
_MAC_TEMPORARY: Final = re.compile(r"((?:/private)?/var/folders/[^/]+/[^/]+/T)(?:/|$)")
_SHORTEST_VALUE: Final = 6

_SHORTEST_NAME: Final = 3
"""Minimum length in characters: a shorter name occurs in every text."""

_ACCOUNTS: Final = (
    "admin administrator anonymous app apps build builder circleci codespace conda coder daemon default dev developer "
    "docker ec2 gitpod guest jenkins jovyan kaggle linuxbrew localhost localdomain main mambauser node nobody public "
    "root runner shared spack test tester travis ubuntu user username users vagrant vscode worker workspace www"
)
_TRADE: Final = (
    "aot arch argument aten auto autotune backward batch benchmark bfloat16 block bool buffer buffers cache channels "
    "code compile compiled conv cpp cpu cuda cwd data default device dim dir dot double dtype dynamic dynamo eager "
    "email emb env extern file float forward func fused fusion generated git gpu grad graph group half head hidden "
    "home host index inductor inference inf inline input inputs int kernel kernels layer layout line linear log loop "
    "lower lowering mask matmul mean mod model module mps name nan net node nodes none norm num numel off op ops opt "
    "output outputs pad pass path permute pid pointwise proc program ptr ptx python read reduce redacted reduction "
    "relu reshape rms rocm run schedule scheduler script shape share shared site size softmax source square src "
    "stride tensor tmp token torch torchinductor train training transpose triton txt typing url usr value values var "
    "view weight weights with work world wrapper write xpu"
)

_ORDINARY: Final = frozenset((*_ACCOUNTS.split(), *_TRADE.split(), *map(str.lower, dir(builtins)), *keyword.kwlist))


class Machine(msgspec.Struct, frozen=True):
    """The current user and machine: a dump is usually shared where it was recorded."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()


class Secrets(msgspec.Struct, frozen=True):
    """What must not be seen. Directories are written with slashes, without one at the end."""

    users: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    homes: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    """The directories of the programs."""
    cwds: tuple[str, ...] = ()
    caches: tuple[str, ...] = ()
    temporaries: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    """Files and directories from a table that could not be recognised in a text, for example because of spaces."""
    folders: tuple[str, ...] = ()
    """All directories of files that a table names."""
    values: tuple[str, ...] = ()
    """Arguments of the program and values of its variables, unless they are common words."""
    ordinary: tuple[str, ...] = ()
    """Names of users and hosts that are common words, or words of the compiler: they are kept outside of paths."""


class Gatherer:
    """Collects from the contents of a dump which secrets it has."""

    def __init__(self, machine: Machine) -> None:
        self._users = set(machine.users)
        self._hosts = {host.partition(".")[0] for host in machine.hosts} | set(machine.hosts)
        self._homes = set(filter(None, map(plain, machine.homes)))
        self._programs: set[str] = set()
        self._cwds: set[str] = set()
        self._caches: set[str] = set()
        self._odd: set[str] = set()
        self._values: set[str] = set()
        self._vocabulary: set[str] = set()

    def run(self, run: Run) -> None:
        """Read run.json."""
        cwd = plain(run.cwd)
        self._structured(run.cwd)
        self._cwds |= {cwd} - {""}
        if run.argv:
            script = run.argv[0].replace("\\", "/") if "\\" in run.argv[0] else run.argv[0]
            joined = script if is_absolute(script) else f"{cwd}/{script}" if cwd else ""
            folder = plain(posixpath.dirname(posixpath.normpath(joined))) if joined else ""
            if folder and not _COMMANDS.fullmatch(folder):
                self._programs.add(folder)
            self._structured(joined)
        for word in run.argv[1:]:
            self._value(word.partition("=")[2] if word.startswith("-") and "=" in word else word)
            if re.fullmatch(r"-[A-Za-z][^-=\s]{6,}", word):  # `-pVALUE`: a text may contain the value with the letter
                self._values |= {word[1:], word[2:]}
        for name, value in run.environment.items():
            if name in _CACHES and is_absolute(value):
                self._caches.add(plain(value))
                self._structured(value)
            elif name in ("USER", "LOGNAME", "USERNAME"):
                self._users.add(value)
            elif name in ("HOSTNAME", "MASTER_ADDR"):
                self._hosts.add(value)
            elif name == "HOME":
                self._homes.add(plain(value))
            else:
                self._value(value)

    def text(self, text: str) -> None:
        """Read a text of the dump, or a line of it: homes, caches and odd paths in it."""
        if "ome" in text or "sers" in text:
            for found in patterns.HOME.finditer(text):
                self._homes.add(plain(found[1]))
                self._users.add(found[2].rstrip("."))
        if "/root" in text and re.search(r"(?<![\w.~/-])/root(?![\w.-])", text):
            self._homes.add("/root")
        if "torchinductor_" in text:
            for found in patterns.CACHE.finditer(text):
                self._caches.add(plain(found[1].rstrip(".")))
                self._users.add(found[2].rstrip("."))

    def json(self, value: Any, key: str = "") -> None:
        """Read all texts of a row: the values of some keys are paths, or names of operators."""
        match value:
            case str():
                self.text(value)
                if key in _PATHS:
                    self._structured(value)
                elif key == "target" and _OPERATORS.fullmatch(value):
                    self._vocabulary.update(map(str.lower, _WORD.findall(value)))
            case dict():
                for name, item in value.items():
                    self.text(name)
                    self.json(item, name)
            case list():
                for item in value:
                    self.json(item)
            case _:
                pass

    def secrets(self) -> Secrets:
        """All secrets found, in a fixed order; the home that the program ran in comes first."""
        vocabulary = frozenset(self._vocabulary)
        names = {name for name in self._users | self._hosts if name}
        ordinary = {name for name in names if is_ordinary(name, vocabulary)}
        odd = {path for path in self._odd if not re.fullmatch(rf"(?:[A-Za-z]:)?(?:/{patterns.PART})+", path)}
        return Secrets(
            users=tuple(sorted(self._users & names - ordinary)),
            hosts=tuple(sorted(self._hosts & names - ordinary - self._users)),
            homes=tuple(sorted(_sorted(self._homes), key=lambda home: not self._is_at_work(home))),
            programs=_sorted(self._programs),
            cwds=_sorted(self._cwds),
            caches=_sorted(self._caches),
            temporaries=_sorted(
                {*TEMPORARY, *(found[1] for path in self._odd if (found := _MAC_TEMPORARY.match(path)))}
            ),
            odd=tuple(sorted(odd)),
            folders=tuple(sorted(self._odd)),
            values=tuple(sorted(value for value in self._values if not is_ordinary(value, vocabulary))),
            ordinary=tuple(sorted(ordinary)),
        )

    def _is_at_work(self, home: str) -> bool:
        """True if a program ran in this home."""
        return any(f"{path}/".startswith(f"{home}/") for path in (*self._cwds, *self._programs))

    def _structured(self, path: str) -> None:
        """Read a path that stands alone, so that its end is known."""
        path = re.sub(r":\d+$", "", path)
        if not is_absolute(path):
            return
        whole = plain(path)
        if whole in self._odd:
            return
        parts = whole.split("/")
        for index, part in enumerate(parts[:-1]):
            if part.lower() in ("home", "homes", "users") and parts[index + 1]:
                self._homes.add("/".join(parts[: index + 2]))
                if not re.search(r"\.\w+$", parts[index + 1]) or index + 2 < len(parts):
                    self._users.add(parts[index + 1])
                break
        self._odd |= {whole, posixpath.dirname(whole)} - {"", "/"}

    def _value(self, value: str) -> None:
        is_telling = len(value) >= _SHORTEST_VALUE and not value.startswith(("-", "~")) and not is_absolute(value)
        if is_telling and not re.fullmatch(r"[^\W\d_]+|[\d.,:;+eE_-]+", value) and not _DTYPE.fullmatch(value):
            self._values.add(value)


def is_absolute(path: str) -> bool:
    """True if `path` is absolute on any system."""
    return bool(re.match(r"/|\\\\|[A-Za-z]:[\\/]", path))


def plain(path: str) -> str:
    """A path of any system with slashes, none of them at its end; empty for a root."""
    if not path or not is_absolute(path):
        return ""
    slashed = re.sub(r"[\\/]+", "/", path) if re.match(r"[A-Za-z]:|\\\\", path) else path
    normal = posixpath.normpath(re.sub(r"/+", "/", slashed))
    return "" if normal == "/" or re.fullmatch(r"[A-Za-z]:/?", normal) else normal


def _sorted(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if path))


def is_ordinary(name: str, vocabulary: frozenset[str]) -> bool:
    """True if removing `name` everywhere would hide nothing, and damage what the compiler said.

    `vocabulary` are the words in the names of the dump's own operators.
    """
    lower = name.lower()
    return len(name) < _SHORTEST_NAME or lower.isdigit() or lower in _ORDINARY or lower in vocabulary
