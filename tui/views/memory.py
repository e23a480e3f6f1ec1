"""The view of memory."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.memory import MODES, memory
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.views.view import View


class MemoryView(View):
    """Pieces of memory as bars from line to line, what is live, or what the backward keeps; below, details."""

    MODES: ClassVar = MODES
    FOLLOW: ClassVar = "output"
    DETAIL: ClassVar = ("rows", "long")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The replay."""
        return memory(dump, chain, mode)
