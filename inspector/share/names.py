"""Renames what the program's authors have named: the same name by the same one in all texts, and in what torch makes
of it.
"""

import re
from collections.abc import Iterable
from typing import Final

from inspect_compile.share.vocabulary import PART, Key, is_short, key

NAMES: Final = "names of the program"

WORD: Final = re.compile(r"\w[\w-]{0,100}+\.pyi?\b|\w+")
"""A word, or a file of code without its directory."""
_OWN: Final = re.compile(r"name\d+x")
"""A replacement: it ends in a letter, so that a number may follow, and no word of torch is like it."""
_NUMBERED: Final = re.compile(r"(?:dir-\d+|__\w*__)")
"""Components of a path that stay."""
_MOST_KEPT: Final = 100_000


class Names:
    """The names of a program, each with its replacement."""

    def __init__(self, names: Iterable[str], files: Iterable[str]) -> None:
        self._numbers: dict[str, int] = {}
        self._keys: dict[Key, str] = {}
        self._longest = 1
        self._files = frozenset(files)
        self._first = 1 + max((int(found[0][4:-1]) for name in names if (found := _OWN.fullmatch(name))), default=0)
        self._kept: dict[str, str] = {}
        for name in sorted(names):
            if not _OWN.fullmatch(name):
                self._add(name)

    def word(self, word: str) -> str:
        """A word, or the name of a file, with the names in it replaced."""
        kept = self._kept.get(word)
        if kept is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            kept = self._kept[word] = self._component(word) if word in self._files else self._replaced(word)
        return kept

    def path(self, short: str) -> str:
        """The short form of a path with all its components replaced, also common words: they are the program's."""
        root, *below = short.split("/")
        return "/".join((root, *map(self._component, below)))

    def _add(self, name: str) -> None:
        number = self._numbers.setdefault(name, self._first + len(self._numbers))
        forms = {key(name), key(name.lower()), key(re.sub(r"[^\x00-\x7f]+", "_", name))}
        for form in forms:
            if not is_short(form):
                self._keys.setdefault(form, f"name{number}x")
                self._longest = max(self._longest, len(form))

    def _component(self, part: str) -> str:
        stem, dot, ending = part.partition(".")
        if not stem or _NUMBERED.fullmatch(stem) or _OWN.fullmatch(stem):
            return part
        name = self._replaced(stem)
        if not _OWN.fullmatch(name):
            name = f"name{self._numbers.setdefault(stem, self._first + len(self._numbers))}x"
        return f"{name}{dot}{self._replaced(ending)}"

    def _replaced(self, word: str) -> str:
        if word in self._numbers and key(word) in self._keys:
            return f"name{self._numbers[word]}x"
        parts = list(PART.finditer(word))
        found, end, index = [], 0, 0
        while index < len(parts):
            for after in range(min(len(parts), index + self._longest), index, -1):
                name = self._keys.get(tuple(part[0].lower() for part in parts[index:after]))
                if name is not None:
                    found += [word[end : parts[index].start()], name]
                    end, index = parts[after - 1].end(), after - 1
                    break
            index += 1
        return "".join((*found, word[end:]))
