"""HTML in which everything that is not markup already is escaped, in one place, and how much text a page takes."""

import re
from html import escape
from typing import Final

from inspect_compile.tables.text import clean

LONGEST: Final = 400_000
"""Maximum size of one text, in characters."""
_NO_TEXT: Final = re.compile(r"[\ufdd0-\ufdef\ufffe\uffff]|[\U00010000-\U0010ffff](?<=[\ufffe\uffff])")
"""Characters that an HTML parser reports as errors, beside those that `clean` removes."""


class Markup(str):
    """A text that is HTML: made by `escaped`, `element` and `joined` alone, or written out in this package."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """`text` as the content of an element or of an attribute in double quotes; markup stays as it is."""
    if isinstance(text, Markup):
        return text
    return Markup(escape(_NO_TEXT.sub("\ufffd", clean(text)), quote=True))


def joined(*parts: str, between: str = "") -> Markup:
    """The parts one after the other, those that are text escaped."""
    return Markup(escaped(between).join(map(escaped, parts)))


def element(name: str, *inner: str, **attributes: str | bool | int | None) -> Markup:
    """`<name attributes>inner</name>`. An attribute that is None or False is left out, `class_` is `class`, and an
    underscore is a hyphen; names are ours, values and content may be anyone's.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Markup(f"<{name}{given}>{''.join(map(escaped, inner))}</{name}>")


class Budget:
    """What is left of the characters that sources, stages and graphs may take together: a page that is too large for an
    issue helps nobody.
    """

    def __init__(self, characters: int) -> None:
        self._left = characters

    def takes(self, text: str) -> bool:
        """True if the text is to be shown; what it takes is counted."""
        if len(text) > min(LONGEST, self._left):
            return False
        self._left -= len(text)
        return True

    @staticmethod
    def too_long(what: str) -> Markup:
        """What is said of a text that is not shown."""
        return element("p", f"{what}: too long for this page; see the dump", class_="warn")
