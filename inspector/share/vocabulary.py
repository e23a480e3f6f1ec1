"""Which words are nobody's own: those of torch, Triton, Python and of this tool, and how a word is taken apart.

`words.txt` is written by `scripts/words_of_torch.py`.
"""

import functools
import re
from pathlib import Path
from typing import Final

WORDS: Final = Path(__file__).with_name("words.txt")
SHORTEST: Final = 3
"""Minimum number of letters of a name that tells anything; shorter ones are in every text."""

PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
"""A part of an identifier: `Zebulon`, `Net` and `2` of `ZebulonNet2`."""

Key = tuple[str, ...]
"""The parts of a name in lower case, without numbers at its end."""


def key(name: str) -> Key:
    """The same for all forms that torch gives a name: `ZebulonNet`, `zebulon_net_1`."""
    parts = [part.lower() for part in PART.findall(name)]
    while parts and parts[-1].isdecimal():
        parts.pop()
    return tuple(parts)


def is_short(name: Key) -> bool:
    """True if it is too short to tell anything."""
    return sum(len(part) for part in name if not part.isdecimal()) < SHORTEST


def is_common(name: Key) -> bool:
    """True if torch, Python or this tool has it, as a whole."""
    return name in _words() or "".join(name) in _joined()


def is_common_part(part: str) -> bool:
    """True if it is a part of a word that is common."""
    return part in _parts() or part in _joined()


@functools.cache
def _words() -> frozenset[Key]:
    return frozenset(tuple(word.split("_")) for word in WORDS.read_text("ascii").split())


@functools.cache
def _joined() -> frozenset[str]:
    return frozenset("".join(word) for word in _words())


@functools.cache
def _parts() -> frozenset[str]:
    return frozenset(part for word in _words() for part in word)
