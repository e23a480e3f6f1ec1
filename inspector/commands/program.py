"""The program to run: its words behind our own options, and the file that is executed for it."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.errors import CommandError

BEFORE_START: Final = 125
"""Exit status of `run` for errors before the program has started; from then on the status is the program's."""

VALUED: Final = (
    "--dump", "--cache", "--graphs", "--max-dump", "--level", "--target", "--graph", "--calls", "--every",
    "--continue-with", "--keep", "--kernel", "-o", "--output", "--lock", "--format", "--junit", "--sarif", "--rank",
    "--live-metrics", "--ready", "--rule", "--missed-over", "--old", "--new", "--runs", "--minutes", "--step",
)  # fmt: skip
"""The options that take a value, including those of `bisect-fusions`, `numerics`, `lock` and `check`. They come before
the program; everything after it belongs to the program.
"""


class Program(NamedTuple):
    """What to run: `kind` is script, module or command; `words` begins with its name."""

    kind: str
    words: tuple[str, ...]


def split(words: Sequence[str]) -> tuple[list[str], Program | None]:
    """Our own options, and the program behind them."""
    index = 0
    while index < len(words):
        word = words[index]
        if word == "--":
            return list(words[:index]), Program("command", tuple(words[index + 1 :]))
        if word == "-m":
            return list(words[:index]), Program("module", tuple(words[index + 1 :]))
        if word == "-" or not word.startswith("-"):
            return list(words[:index]), Program("script", tuple(words[index:]))
        index += 2 if word in VALUED else 1
    return list(words), None


def command_of(program: Program | None, commands: Sequence[str]) -> tuple[str, list[str]]:
    """The file to execute, and argv. A script that is not there may be meant for one of our `commands`."""
    from inspect_compile.launch.replace import find

    if program is None or not program.words:
        raise CommandError("no program given: inspect-compile run SCRIPT, run -m MODULE, or run -- COMMAND")
    if program.kind == "command":
        return find(program.words[0]), list(program.words)
    if program.kind == "module":
        return sys.executable, [sys.executable, "-m", *program.words]
    script = program.words[0]
    if script != "-":
        _check(script, commands)
    return sys.executable, [sys.executable, *program.words]


def _check(script: str, commands: Sequence[str]) -> None:
    if not os.path.exists(script):
        import difflib

        near = difflib.get_close_matches(script, commands, 1)
        hint = (
            f"is the command `inspect-compile {near[0]}` meant?"
            if near
            else "`inspect-compile --help` lists the commands"
        )
        raise CommandError(f"{script}: no such script here ({Path.cwd()}); {hint}")
    if not os.access(script, os.R_OK):
        raise CommandError(f"{script}: can't be read; nothing was started")
