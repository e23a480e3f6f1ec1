"""A program to run, as it stands behind our own options."""

from collections.abc import Sequence
from typing import Final, NamedTuple

BEFORE_START: Final = 125
"""Exit status of `run` for errors before the program has started; from then on the status is the program's."""

VALUED: Final = ("--dump", "--cache", "--graphs", "--max-dump", "--target", "--graph", "--calls")
"""The options that take a value, including those of `bisect-fusions` and `numerics`. They come before the program;
everything after it belongs to the program.
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
