"""The generated code, and the other texts that torch would write for a graph."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Shown
from inspect_compile.tui.models.wrapper import WRITTEN, output
from inspect_compile.tui.views.view import View


class OutputView(View):
    """A text; in the generated code, the lines of the selected kernels are marked."""

    MODES: ClassVar = tuple(WRITTEN)

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Code]:
        """The text; a line that says so if there is none."""
        missing = CodeLine(f" The dump holds no such file of {chain.graph} (yet).", role="dim")
        code = output(dump, chain, mode) or Code([missing])
        return Shown(code, number_of(len(code), "line"))
