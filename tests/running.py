"""Running a program alone and under inspection, as a shell would."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from inspect_compile.dump import paths, under_way
from tests.warm import INTERPRETERS

SECONDS = 240

COMMAND = (sys.executable, "-m", "inspect_compile")
COLD = ("--cache", "bypass")
"""What a test runs with that is about a compile, not about what was kept of one."""


def run(
    words: Sequence[str | Path],
    cwd: Path,
    *,
    environment: Mapping[str, str | None] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run `words` to its end. A variable that is None is not set."""
    variables = {name: value for name, value in {**os.environ, **(environment or {})}.items() if value is not None}
    texts = list(map(str, words))
    done = INTERPRETERS.run(texts, cwd, variables, stdin, SECONDS)
    if done is None:
        done = subprocess.run(
            texts,
            cwd=cwd,
            env=variables,
            input=stdin,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=SECONDS,
            check=False,
        )
    settle(Path(cwd, str(words[list(words).index("--dump") + 1])) if "--dump" in words else Path(cwd, paths.BASE))
    return done


def settle(root: Path) -> None:
    """Wait until the derived files of all dumps below `root` are made: the program's process is left behind by one."""
    for lock in root.rglob(paths.FINISHING):
        under_way.wait(lock.parent, SECONDS)


def plain(
    words: Sequence[str | Path], cwd: Path, *, environment: Mapping[str, str | None] | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """`python WORDS…`."""
    return run([sys.executable, *words], cwd, environment=environment, stdin=stdin)


def inspected(
    words: Sequence[str | Path],
    cwd: Path,
    *,
    options: Sequence[str | Path] = (),
    environment: Mapping[str, str | None] | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """`inspect-compile run WORDS…`; the dump is `cwd`/dump and all is compiled anew unless `options` says otherwise."""
    options = options if "--cache" in options else (*COLD, *options)
    chosen = options if "--dump" in options else ("--dump", cwd / "dump", *options)
    return run([*COMMAND, "run", "--no-tui", *chosen, *words], cwd, environment=environment, stdin=stdin)


def without_last_words(stderr: str) -> str:
    """What the program itself wrote: our words are lines at the end that begin with our name."""
    lines = without_clock(stderr).splitlines(keepends=True)
    while lines and lines[-1].startswith("inspect-compile: "):
        lines.pop()
    return "".join(lines)


def without_clock(stderr: str) -> str:
    """Without date, time and process id at the head of torch's log lines."""
    return re.sub(r"^((?:\[rank\d+\]:)?[A-Z])\d{4} \d\d:\d\d:\d\d\.\d+ \d+ ", r"\1 ", stderr, flags=re.MULTILINE)


def last_words(stderr: str) -> list[str]:
    """Our lines at the end of what came on stderr."""
    count = len(without_last_words(stderr).splitlines())
    return stderr.splitlines()[count:]
