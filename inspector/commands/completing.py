"""What Tab completes: asked by the shell in a process of its own, which prints the words and ends."""

import argparse
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from inspect_compile.errors import CommandError, DumpError

if TYPE_CHECKING:
    from inspect_compile.commands import Listed
    from inspect_compile.dump import Dump

Words = Callable[[Sequence[str]], Iterable[str]]
"""The words that are already there → those that can follow."""


def complete(commands: Sequence["Listed"]) -> None:
    """Answer the shell, and end the process."""
    import argcomplete

    before = _before()
    parser = argparse.ArgumentParser(add_help=False)
    of_commands = parser.add_subparsers()
    for listed in commands:
        own = of_commands.add_parser(listed.name, allow_abbrev=False)
        if before[:1] == [listed.name]:
            listed.load().configure(own)
            if listed.has_program:
                own.add_argument("program", nargs=argparse.REMAINDER)
            _complete_values(own, listed.name, before[1:])
    # A script can stand in the place of a command.
    names = [listed.name for listed in commands]
    of_commands.completer = _also_files(lambda words: names, [])  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser, always_complete_options=False)


def _before() -> list[str]:
    """The words in front of the one that is completed, without the program's name."""
    line = os.environ.get("COMP_LINE", "")[: int(os.environ.get("COMP_POINT", "0") or 0)]
    try:
        words = shlex.split(line)
    except ValueError:  # in a quoted word
        words = shlex.split(line.rpartition(line[-1])[0]) if line else []
    return words[1:] if line.endswith(" ") else words[1:-1]


def _complete_values(parser: argparse.ArgumentParser, command: str, before: Sequence[str]) -> None:
    """Say what completes each argument whose values a dump or this tool knows."""
    words = [word for word in before if not word.startswith("-")]
    for action in parser._actions:
        if action.dest in ("words", "dump", "a", "b", "other"):
            after = _WORDS.get(command, _nothing) if action.dest == "words" else _nothing
            action.completer = _also_files(_dumps_and(after), words)  # type: ignore[attr-defined]
        elif action.dest == "graph":
            action.completer = _only(_graphs, words)  # type: ignore[attr-defined]


def _only(found: Words, words: Sequence[str]) -> Callable[..., list[str]]:
    def completer(prefix: str, **_: Any) -> list[str]:
        try:
            return [word for word in found(words) if word.startswith(prefix)]
        except (CommandError, DumpError, OSError):  # there is no such dump
            return []

    return completer


def _also_files(found: Words, words: Sequence[str]) -> Callable[..., list[str]]:
    from argcomplete.completers import FilesCompleter

    own, files = _only(found, words), FilesCompleter()

    def completer(prefix: str, **given: Any) -> list[str]:
        found = own(prefix)
        if found and words:
            return found
        return [*found, *(file for file in files(prefix, **given) if file.rstrip("/") not in found)]

    return completer


def _dumps_and(after: Words) -> Words:
    """Dumps near here as the first word, and what can follow one."""

    def found(words: Sequence[str]) -> Iterator[str]:
        from inspect_compile.dump import find_dumps

        if not words:
            yield from (str(path) for path in find_dumps(Path()))
        yield from after(words)

    return found


def _nothing(words: Sequence[str]) -> tuple[str, ...]:
    return ()


def _dump(words: Sequence[str]) -> "Dump":
    from inspect_compile.commands.dump_selection import chosen

    return chosen(words[0] if words and os.path.isdir(words[0]) else None, None)


def _graphs(words: Sequence[str]) -> list[str]:
    return [graph.graph for graph in _dump(words).outermost()]


def _kernels(words: Sequence[str]) -> Iterator[str]:
    from inspect_compile.facts import Kernel

    yield from dict.fromkeys(row.name for row in _dump(words).rows(Kernel))


def _nodes(words: Sequence[str]) -> Iterator[str]:
    from inspect_compile.facts import Node

    yield from dict.fromkeys(row.name for row in _dump(words).rows(Node))


def _shown(words: Sequence[str]) -> Iterator[str]:
    """A table, then the names that it takes."""
    from inspect_compile.tables import PAGES, TABLES

    tables = {*TABLES, *PAGES}
    asked = next((word for word in words if word in tables), None)
    if asked is None:
        yield from (*TABLES, *PAGES)
    elif asked in _NAMES:
        yield from _NAMES[asked](words)


def _drawn(words: Sequence[str]) -> Iterator[str]:
    from inspect_compile.diagrams.kinds.every import KINDS

    asked = next((word for word in words if word in KINDS), None)
    if asked is None:
        yield from KINDS
    elif asked in _NAMES:
        yield from _NAMES[asked](words)


_NAMES: Final[dict[str, Words]] = {"kernel": _kernels, "node": _nodes}
"""What names a table or a picture takes."""
_WORDS: Final[dict[str, Words]] = {"show": _shown, "draw": _drawn, "name": _kernels}
"""Command → what can stand behind its dump."""
