"""The kernels."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.analysis.launches import distinct
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.kernels import kernel_key, kernel_source, kernels
from inspect_compile.tui.models.output import output_file
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start


class KernelsView(View[Table]):
    """A row a kernel; below, the source of the one under the cursor."""

    FOLLOW: ClassVar = "output"

    def parts(self) -> Iterable[Widget]:
        """Rows and source."""
        yield Lines(id="kernels-rows").add_class("rows")
        yield Lines(id="kernels-detail").add_class("detail")

    def build(self, chain: Chain, mode: str, dump: Dump) -> Table:
        """The kernels."""
        return kernels(dump, chain)

    def present(self, model: Table, fresh: bool) -> None:
        """Show them."""
        (self.rows.restart if fresh else self.rows.show)(model)

    def moved(self, lines: Lines) -> None:
        """Read the row's source."""
        subject = lines.subject
        if self.scope is not None and subject is not None and isinstance(subject.names[0], int):
            kernel = self.scope.chain.kernels[subject.names[0]]
            start(self, partial(self._read, self.scope.chain, kernel), group="kernel source", latest=True)

    async def _read(self, chain: Chain, kernel: Kernel) -> None:
        def build(dump: Dump) -> Code:
            return kernel_source(dump, kernel, output_file(dump, chain.graph))

        with self.guarded():
            self.show_detail(kernel_key(kernel), await self.reader.read(build))

    def count(self, model: Table) -> str:
        """How many there are, and their calls."""
        found = self.scope.chain.kernels if self.scope is not None else []
        calls = sum(len(kernel.launches) for kernel in found)
        return f"{number_of(len(distinct(found)), 'kernel')}, {number_of(calls, 'call')}"
