"""A sentence with the command that shows its evidence."""

from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from inspect_compile.tables.styled_text import joined, styled

_LONGEST: Final = 2000
"""Maximum length in characters: a claim contains names from the dump, and a very long one would hide all others."""


class Claim:
    """A line with the command flush right, or on the next line if there is no room."""

    def __init__(self, text: Text, evidence: str = "") -> None:
        self._text = _one_line(text)
        self._evidence = evidence if len(evidence) <= _LONGEST else ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        evidence, width = styled(self._evidence, style="cyan"), options.max_width
        used = cell_len(self._text.plain)
        if not self._evidence or used + 3 + cell_len(self._evidence) <= width:
            gap = " " * (width - used - cell_len(self._evidence)) if self._evidence else ""
            yield joined(self._text, gap, evidence)
            return
        lines = self._text.wrap(console, width - 3)
        for index, line in enumerate(lines):
            yield line if index == 0 else joined("   ", line)
        yield styled(" " * max(0, width - cell_len(self._evidence))) + evidence


def _one_line(text: Text) -> Text:
    shown = text if len(text) <= _LONGEST else joined(text[:_LONGEST], "…")
    return Text(" ").join(shown.split("\n")) if "\n" in shown.plain else shown
