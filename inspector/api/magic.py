"""`%%inspect`: records what a cell compiles, and shows it below the cell. `%load_ext inspect_compile` brings it.

The cell itself runs as it would alone: the first line only opens a recording, and IPython's own event closes it. So
tracebacks, line numbers, `await`, the last value and what is printed stay as they are.
"""

import argparse
import shlex
import warnings
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, NoReturn

from inspect_compile.api.capture import capture
from inspect_compile.api.recording import Recording
from inspect_compile.child.run_config import LEVELS
from inspect_compile.errors import CommandError, DumpError

NAME: Final = "inspect"
_CELL: Final = f"%%{NAME}"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{_CELL}: {message}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise CommandError(message or self.format_usage())


def _parser() -> _Parser:
    parser = _Parser(prog=_CELL, add_help=False, allow_abbrev=False)
    parser.add_argument("name", nargs="?", help="a variable for the recording")
    parser.add_argument("-o", "--output", metavar="DUMP", help="the directory, new or empty")
    parser.add_argument("--recompile", action="store_true", help="make torch forget what was compiled before")
    parser.add_argument("--numerics", action="store_true", help="check the first call of each graph")
    parser.add_argument("--level", choices=LEVELS, default="all")
    return parser


class Magic:
    """The magic of one shell; a cell has at most one recording."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._open: AbstractContextManager[Recording] | None = None
        self._recording: Recording | None = None

    def install(self) -> None:
        """Register it; in a shell that has it nothing changes."""
        self._shell.input_transformers_cleanup.append(as_first_line)
        self._shell.register_magic_function(self.begin, magic_kind="line", magic_name=NAME)
        self._shell.events.register("post_run_cell", self.end)

    def begin(self, line: str) -> None:
        """Record what the rest of the cell compiles: [NAME] [-o DUMP] [--recompile] [--numerics] [--level LEVEL]."""
        from IPython.core.error import UsageError

        if self._open is not None:
            raise UsageError(f"%{NAME}: this cell is recorded already")
        try:
            asked = _parser().parse_args(shlex.split(line))
            if asked.name is not None and not asked.name.isidentifier():
                raise CommandError(f"{_CELL}: {asked.name} cannot be the name of a variable")
            opened = capture(asked.output, recompile=asked.recompile, numerics=asked.numerics, level=asked.level)
            self._recording = opened.__enter__()
        except (CommandError, DumpError, RuntimeError, ValueError) as error:
            raise UsageError(str(error)) from None
        self._open = opened
        if asked.name is not None:
            self._shell.user_ns[asked.name] = self._recording

    def end(self, result: Any) -> None:
        """The cell has ended, in whatever way: close its recording, and show it."""
        opened, self._open = self._open, None
        recording, self._recording = self._recording, None
        if opened is None or recording is None:
            return
        error = getattr(result, "error_in_exec", None) or getattr(result, "error_before_exec", None)
        _close(opened, error)
        from IPython.display import display

        display(recording)  # type: ignore[no-untyped-call, unused-ignore]


def _close(opened: AbstractContextManager[Recording], error: BaseException | None) -> None:
    """End the block as `error` would have; the error stays as IPython has shown it."""
    trace: TracebackType | None = None if error is None else error.__traceback__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # why there is nothing stands in what is shown
        opened.__exit__(None if error is None else type(error), error, trace)
    if error is not None:
        error.__traceback__ = trace


def as_first_line(lines: list[str]) -> list[str]:
    """A cell that begins with `%%inspect` begins with the line magic instead: the rest of it is a cell as any other."""
    first = next((place for place, line in enumerate(lines) if line.strip()), None)
    if first is None or lines[first].split()[0] != _CELL:
        return lines
    return [*lines[:first], lines[first].replace("%%", "%", 1), *lines[first + 1 :]]


_installed: list[Any] = []
"""The shells that have the magic."""


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext inspect_compile` does."""
    if not any(one is shell for one in _installed):
        Magic(shell).install()
        _installed.append(shell)
