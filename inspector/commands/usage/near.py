"""What a person may have meant by a word that is none of those that there are."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

_LONGEST: Final = 200
"""Characters of a word that are compared: comparing takes time with their square."""
_CHOICE: Final = re.compile(r"invalid choice: '([^']*)' \(choose from (.*?)\)", re.DOTALL)
_OPTION: Final = re.compile(r"unrecognized arguments: (-[^\s=]+)")


def did_you_mean(asked: str, known: Iterable[str]) -> str:
    """`; did you mean steps?`, or nothing."""
    near = get_close_matches(asked[:_LONGEST], list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


def of_argparse(message: str, options: Iterable[str]) -> str:
    """The same for what argparse says of an option that is none of `options`, or of a choice."""
    if (choice := _CHOICE.search(message)) is not None:
        return did_you_mean(choice[1], [word.strip("' ") for word in choice[2].split(",")])
    if (option := _OPTION.search(message)) is not None:
        return did_you_mean(option[1], options)
    return ""
