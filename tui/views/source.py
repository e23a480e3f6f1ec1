"""The user's program."""

from typing import ClassVar

from inspect_compile.dump import Dump
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, CodeLine
from inspect_compile.tui.models.source import source
from inspect_compile.tui.views.view import View

NO_LINES = (
    "No node of this graph carries a line of the program.",
    "Dynamo traced code of torch's own only (an nn.Sequential, say).",
    "FX and Cost name the modules instead.",
)


class SourceView(View[Code]):
    """Lines of Python; those with nodes are marked with the number of their kernels."""

    MODES: ClassVar = ("around", "whole")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Code:
        """The files."""
        return source(dump, chain, whole=mode == "whole")

    def present(self, model: Code, fresh: bool) -> None:
        """Show them, from the first line that has nodes."""
        if not len(model):
            recorded = self.scope is not None and self.scope.chain.nodes
            lines = NO_LINES if recorded else ()
            self.rows.restart(Code([CodeLine(f" {line}", role="dim") for line in lines]))
        elif fresh:
            self.rows.restart(model)
            self.rows.begin(next((index for index, line in enumerate(model.lines) if line.subject is not None), 0))
        else:
            self.rows.show(model)

    def count(self, model: Code) -> str:
        """How many lines have nodes."""
        return number_of(sum(line.subject is not None for line in model.lines), "line")
