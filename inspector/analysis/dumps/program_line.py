"""A source line as a person names it: `12`, `model.py:12` or a longer path."""

from typing import NamedTuple

from inspect_compile.facts import Location


class ProgramLine(NamedTuple):
    """A file and a line number."""

    file: str
    """A path or its last parts; empty for any file."""
    digits: str

    @classmethod
    def read(cls, text: str) -> "ProgramLine | None":
        """Parse `text`; None if it names no line."""
        file, _, digits = text.rpartition(":")
        return cls(file.replace("\\", "/"), digits) if digits.isdecimal() and digits.isascii() else None

    def is_at(self, where: Location) -> bool:
        """True if `where` is that line. Numbers are compared as text: Python refuses to parse thousands of digits."""
        if str(where.line) != self.digits.lstrip("0"):
            return False
        told = where.file.replace("\\", "/")
        return not self.file or f"/{told}".endswith(f"/{self.file}")
