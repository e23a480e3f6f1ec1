"""A sentence and the command that shows its evidence."""

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from inspect_compile.tables.sheet import joined, styled


class Claim:
    """A line, and flush right the command that shows its evidence; below it where there is no room beside it."""

    def __init__(self, text: Text, evidence: str = "") -> None:
        self._text = text
        self._evidence = evidence

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
