"""A line of the user's program as a person names it: `12`, `model.py:12` or a longer path."""

from typing import NamedTuple

from inspect_compile.facts import Location


class ProgramLine(NamedTuple):
    """What was named."""

    file: str
    """A path or its last parts; empty: of any file."""
    digits: str

    @classmethod
    def read(cls, text: str) -> "ProgramLine | None":
        """None of what names no line."""
        file, _, digits = text.rpartition(":")
        return cls(file.replace("\\", "/"), digits) if digits.isdecimal() and digits.isascii() else None

    def is_at(self, where: Location) -> bool:
        """Is that the line? Numbers are compared as text: Python refuses to read one of thousands of digits."""
        if str(where.line) != self.digits.lstrip("0"):
            return False
        told = where.file.replace("\\", "/")
        return not self.file or f"/{told}".endswith(f"/{self.file}")
