"""How much text a page takes: a page that is too large for an issue helps nobody."""

from typing import Final

from inspect_compile.report.markup import Markup, element

LONGEST: Final = 400_000
"""Maximum size of one text, in characters."""


class Budget:
    """What is left of the characters that sources, stages and graphs may take together."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def takes(self, text: str) -> bool:
        """True if the text is to be shown; what it takes is counted."""
        if len(text) > min(LONGEST, self._left):
            return False
        self._left -= len(text)
        return True

    @staticmethod
    def told(what: str) -> Markup:
        """What is said of a text that is not shown."""
        return element("p", f"{what}: too long for this page; it is in the dump", class_="warn")
