"""Runs a program plain and inspected, under the same conditions, and tells in what the two runs differ.

Both runs have the same paths, environment and kernels at hand: the place of a run is emptied before each, and of
torch's caches only the compiled kernels are left. So both compile, and what they generate can be compared.
"""

import difflib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook
from tests.running import COLD, COMMAND, last_words, settle, without_last_words
from tests.warm import Interpreter

SECONDS = 900
"""A run that takes longer hangs: on a machine with much else to do some take 300."""

WHOLE_GRAPHS = ("fxgraph", "aotautograd")
"""Folders of torch's caches of whole graphs, in its cache directory."""

KERNELS = re.compile(r"[a-z2-7]{2}")
"""Names of the folders there with compiled kernels. In others, of AOTInductor, files are written to a second time."""

COUNTING = Path(__file__).parent / "counting"
_COUNTED = "what Dynamo counted"

_CHANCE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "ADDRESS"),
    # `then` is what a program has put in the place of the date.
    (re.compile(r"(?m)\b([VDIWEC])(?:\d{4} \d\d:\d\d:\d\d|then)\.\d{6} \d+ "), r"\1 TIME PROCESS "),
    # The table of compile times.
    (re.compile(r"(?m)(_dynamo/utils\.py:\d+\] [\w.]+) +\d[\d.e-]*$"), r"\1 SECONDS"),
    # What autotuning measured: the order of the choices depends on it as well.
    (re.compile(r'"best_kernel": "\w+", "best_time": [\d.e-]+'), "BEST"),
    (re.compile(r"(?m)^  \w+ [\d.]+ ms [\d.]+% .*$"), "  CHOICE"),
    (re.compile(r"(?<=AUTOTUNE benchmarking takes )[\d.]+ seconds and [\d.]+ seconds(?= precompiling)"), "TIME"),
    (re.compile(r"(?<!\d)20\d\d[_-]\d\d[_-]\d\d[_T ]\d\d[_:]\d\d[_:]\d\d[._,]\d{3,6}"), "TIME"),
    (re.compile(r"\bpid([ _=:]+)\d+"), r"pid\1PROCESS"),
    (re.compile(r"\b[Pp]rocess (\d+)\b"), "process PROCESS"),
    (re.compile(r"/tmp(\w{8})\b"), "/tmpNAME"),
    (re.compile(r"(\b|(?<=_))[0-9a-f]{8}([_-][0-9a-f]{4}){3}[_-][0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b\d{14,15}\b"), "ID"),
)
"""What differs between two plain runs: (pattern, what stands for it)."""


@dataclass(frozen=True)
class Case:
    """A program, a file or a folder, and how it is run: `python WORDS…` in a directory that holds a copy of it."""

    program: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""
    path: str = ""
    """Where it lies there, if not under its own name."""
    by_chance: tuple[str, ...] = ()
    """Patterns of what else differs between two plain runs."""


EVERYWHERE = Case("goes_everywhere.py", ("goes_everywhere.py",))
"""The program that calls the most hooks."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended, and what it left. What we said ourselves is not compared."""

    ended: str
    stdout: str
    stderr: str
    files: Mapping[str, str]
    """In its folder: path → contents."""
    generated: tuple[str, ...]
    """Python files that torch generated: their contents, sorted. Their names are hashes of them."""
    cached: frozenset[str]
    """What torch stored in its caches of whole graphs: the keys hold all that a compile depends on."""
    counted: tuple[str, ...] | None
    """What Dynamo counted in each process that used it: frames, graphs, breaks and their reasons; sorted. None where
    the case has a sitecustomize of its own, which Python imports instead.
    """
    said: tuple[str, ...]
    """Our own last lines on stderr."""

    def parts(self) -> dict[str, str]:
        """What is compared, as named texts."""
        return {
            "end": self.ended,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "keys of torch's caches": "\n".join(sorted(self.cached)),
            **({} if self.counted is None else {_COUNTED: "\n".join(self.counted)}),
            **{f"file {path}": text for path, text in sorted(self.files.items())},
            **{f"generated file {number}": text for number, text in enumerate(self.generated)},
        }


def difference(plain: Outcome, watched: Outcome) -> str:
    """A diff of everything, empty where nothing differs."""
    before, after = plain.parts(), watched.parts()
    if not (_COUNTED in before and _COUNTED in after):
        before.pop(_COUNTED, None)
        after.pop(_COUNTED, None)
    found: list[str] = []
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            old, new = (parts.get(name, "(not there)").splitlines() for parts in (before, after))
            found += difflib.unified_diff(old, new, f"plain: {name}", f"inspected: {name}", lineterm="", n=2)
    return "\n".join(found)


class Place:
    """Where runs take place, one after the other: `here` is their directory, `dump` where the inspected one records.

    Compiled C++ kernels hold their cache's path, so that one is the same in every session.
    """

    def __init__(self, root: Path, caches: Path, programs: Path) -> None:
        self.root, self.dump = root, root / "dump"
        self._here, self._counted = root / "here", root / "counted"
        self._cache, self._kernels = caches / "used", caches / "kernels"
        self._programs = programs

    def twice(self, case: Case, options: Sequence[str] = ()) -> tuple[Outcome, Outcome]:
        """(plain, inspected). torch may tell that it compiles a kernel: a plain run that had to is made once more."""
        before = len(_files(self._kernels))
        plain, watched = self.plain(case), self.inspected(case, options)
        if difference(plain, watched) and len(_files(self._kernels)) > before:
            plain = self.plain(case)
        return plain, watched

    def plain(self, case: Case, *, is_warm: bool = False) -> Outcome:
        """`python WORDS…`; with `is_warm` torch's caches are as the run before has left them."""
        return self._run(case, [sys.executable, *case.words], is_warm=is_warm)

    def inspected(self, case: Case, options: Sequence[str] = (), *, is_warm: bool = False) -> Outcome:
        """`inspect-compile run … WORDS…`, compiled anew unless `options` says otherwise."""
        options = options if "--cache" in options else (*COLD, *options)
        shutil.rmtree(self.dump, ignore_errors=True)
        command = [*COMMAND, "run", "--no-tui", "--dump", str(self.dump), *options, *case.words]
        outcome = self._run(case, command, is_warm=is_warm)
        settle(self.dump)
        return outcome

    def left_on(self, case: Case) -> Outcome:
        """`INSPECT_COMPILE=1 python WORDS…`, with torch's caches as for `inspected`."""
        shutil.rmtree(self.dump, ignore_errors=True)
        variables = {"INSPECT_COMPILE": "1", "INSPECT_COMPILE_DUMPS": str(self.dump), "INSPECT_COMPILE_CACHE": "bypass"}
        watched = replace(case, environment={**case.environment, **variables})
        outcome = self._run(watched, [sys.executable, *case.words])
        settle(self.dump)
        return outcome

    def prepare(self, case: Case, *, is_warm: bool = False) -> tuple[Path, dict[str, str]]:
        """Empty the place and lay out the program: (directory to run it in, environment)."""
        emptied = self._here, self._counted, *(() if is_warm else (self._cache,))
        for folder in emptied:
            shutil.rmtree(folder, ignore_errors=True)
        self._counted.mkdir()
        source, copy = self._programs / case.program, self._here / (case.path or case.program)
        copy.parent.mkdir(parents=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy)
        self._kernels.mkdir(parents=True, exist_ok=True)
        if not is_warm:
            shutil.copytree(self._kernels, self._cache, copy_function=os.link)
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": str(self._cache),
            # Sets that torch prints or walks through come in the same order.
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(COUNTING),
            "DYNAMO_COUNTED": str(self._counted),
            **case.environment,
        }
        return self._here, environment

    def _run(self, case: Case, command: list[str], *, is_warm: bool = False) -> Outcome:
        cwd, environment = self.prepare(case, is_warm=is_warm)
        known = set(_files(self._here)) | set(_files(self._cache))
        done = self._ended(command, cwd, environment, case.stdin)
        texts = [stream.decode("utf-8", "backslashreplace") for stream in (done.stdout, done.stderr)]
        plainly = _without_chance(case)
        stored = [path for path in _files(self._cache) if path not in known]
        outcome = Outcome(
            ended=_ended(done.returncode),
            stdout=plainly(texts[0]),
            stderr=plainly(without_last_words(texts[1])),
            files={
                plainly(str(path.relative_to(self._here))): plainly(_text(path))
                for path in _files(self._here)
                if path not in known and "__pycache__" not in path.parts
            },
            generated=tuple(sorted(plainly(_text(path)) for path in stored if path.suffix == ".py")),
            cached=frozenset(
                str(path.parent.relative_to(self._cache))
                for path in stored
                if path.relative_to(self._cache).parts[0] in WHOLE_GRAPHS
            ),
            counted=tuple(sorted(plainly(_text(path)) for path in _files(self._counted)))
            if "PYTHONPATH" not in case.environment
            else None,
            said=tuple(last_words(texts[1])),
        )
        self._keep(stored)
        return outcome

    def _ended(
        self, command: list[str], cwd: Path, environment: dict[str, str], stdin: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command, cwd=cwd, env=environment, input=stdin.encode(), capture_output=True, timeout=SECONDS, check=False
        )

    def _keep(self, stored: list[Path]) -> None:
        for path in stored:
            name = path.relative_to(self._cache)
            kept = self._kernels / name
            if path.suffix != ".py" and KERNELS.fullmatch(name.parts[0]) and not kept.exists():
                kept.parent.mkdir(parents=True, exist_ok=True)
                os.link(path, kept)


class WarmPlace(Place):
    """Runs take place in forks of one interpreter that has loaded torch: what differs then is not the start."""

    def __init__(self, root: Path, caches: Path, programs: Path, environment: Mapping[str, str]) -> None:
        """`environment`: variables that have a meaning when an interpreter starts."""
        super().__init__(root, caches, programs)
        self._interpreter = Interpreter({**os.environ, "PYTHONHASHSEED": "0", **environment})

    def close(self) -> None:
        self._interpreter.close()

    def _ended(
        self, command: list[str], cwd: Path, environment: dict[str, str], stdin: str
    ) -> subprocess.CompletedProcess[bytes]:
        done, _ = self._interpreter.run(command, cwd, environment, stdin, SECONDS)
        streams = (text.encode("utf-8", "surrogateescape") for text in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(command, done.returncode, *streams)


def unharmed(place: Place, case: Case, options: Sequence[str] = ()) -> list[Dump]:
    """Run it twice. Nothing differs, and no probe failed. The parts of the dump."""
    return _unharmed(*place.twice(case, options), place)


def unharmed_left_on(place: Place, case: Case) -> list[Dump]:
    """The same with INSPECT_COMPILE=1 in place of the command."""
    return _unharmed(place.plain(case), place.left_on(case), place)


def _unharmed(plain: Outcome, watched: Outcome, place: Place) -> list[Dump]:
    found = difference(plain, watched)
    assert not found, f"\n{found}"
    return without_failures(place)


def without_failures(place: Place) -> list[Dump]:
    """The parts of the dump of the last run, in which no probe failed."""
    dump = open_dump(place.dump)
    dumps = [dump, *map(Dump, dump.other_processes)]
    assert [hook for own in dumps for hook in own.rows(Hook) if hook.state == "failed"] == []
    return dumps


@contextmanager
def claimed(folder: Path) -> Iterator[Path]:
    """A folder in `folder` that no other session uses: the first that is free."""
    folder.mkdir(parents=True, exist_ok=True)
    number = 0
    while True:
        with open(folder / f"{number}.lock", "w") as lock:
            if _locks(lock):
                yield folder / str(number)
                return
        number += 1


def _locks(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _ended(status: int) -> str:
    return f"exit status {status}" if status >= 0 else signal.Signals(-status).name


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace")


def _without_chance(case: Case) -> Callable[[str], str]:
    chance = (*_CHANCE, *((re.compile(pattern), "CHANCE") for pattern in case.by_chance))

    def plainly(text: str) -> str:
        for pattern, stand_in in chance:
            text = pattern.sub(stand_in, text)
        return text

    return plainly
