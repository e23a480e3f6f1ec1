"""The user's program."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.sheet import Shown
from inspect_compile.tui.models.source import source
from inspect_compile.tui.views.view import View

NO_LINES = (
    "No node of this graph carries a line of the program.",
    "Dynamo traced code of torch's own only (an nn.Sequential, say).",
    "FX and Cost name the modules instead.",
)


class SourceView(View):
    """Lines of Python; those with nodes are marked with the number of their kernels."""

    MODES: ClassVar = ("around", "whole")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Code]:
        """The files, from the first line that has nodes."""
        code = source(dump, chain, whole=mode == "whole")
        marked = [index for index, line in enumerate(code.lines) if line.subject is not None]
        if not len(code) and chain.nodes:
            code = Code([CodeLine(f" {line}", role="dim") for line in NO_LINES])
        return Shown(code, number_of(len(marked), "line"), marked[0] if marked else 0)
