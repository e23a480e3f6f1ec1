"""The kernels."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.widget import Widget

from inspect_compile.analysis.launches import distinct
from inspect_compile.analysis.provenance import Selection
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.code import Code
from inspect_compile.tui.models.kernels import FORMS, SOURCE, kernel_key, kernel_text, kernels
from inspect_compile.tui.models.output import output_file
from inspect_compile.tui.models.sheet import Table
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start


class KernelsView(View[Table]):
    """A row a kernel; below, the source of the one under the cursor, or what Triton made of it."""

    MODES: ClassVar = tuple(FORMS)
    FOLLOW: ClassVar = "output"
    _graph = ""
    """Whose kernels are shown."""

    def parts(self) -> Iterable[Widget]:
        """Rows and source."""
        yield Lines(id="kernels-rows").add_class("rows")
        yield Lines(id="kernels-detail").add_class("detail")

    @property
    def modes(self) -> tuple[str, ...]:
        """Nothing but the source where Triton compiled nothing."""
        return self.MODES if self.scope is not None and self.scope.chain.has_binaries else ()

    def build(self, chain: Chain, mode: str, dump: Dump) -> Table:
        """The kernels."""
        return kernels(dump, chain)

    def present(self, model: Table, fresh: bool) -> None:
        """Show them; another form of a kernel leaves the rows as they are."""
        graph = self.scope.chain.graph if self.scope is not None else ""
        (self.rows.restart if graph != self._graph else self.rows.show)(model)
        self._graph = graph

    def moved(self, lines: Lines) -> None:
        """Read the row's text."""
        subject = lines.subject
        if self.scope is not None and subject is not None and isinstance(subject.names[0], int):
            kernel = self.scope.chain.kernels[subject.names[0]]
            start(
                self,
                partial(self._read, self.scope.chain, kernel, self.mode if self.modes else SOURCE),
                group="kernel source",
                latest=True,
            )

    async def _read(self, chain: Chain, kernel: Kernel, mode: str) -> None:
        def build(dump: Dump) -> Code:
            return kernel_text(dump, chain, kernel, output_file(dump, chain.graph), mode)

        with self.guarded():
            self.show_detail(f"{mode} {kernel_key(kernel)}", await self.reader.read(build))
            self._mark_statements()

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """A statement stands for its node."""
        if event.lines is not self.rows and event.lines.subject is not None:
            event.stop()
            self.post_message(self.Chosen(self, event.lines.subject))
        else:
            super().on_lines_moved(event)

    def mark(self, choice: Choice | None) -> None:
        """Mark the statements too."""
        super().mark(choice)
        self._mark_statements()

    def _mark_statements(self) -> None:
        if self.is_ready:
            selection = self.choice.selection if self.choice is not None else Selection()
            self.query_one("#kernels-detail", Lines).mark(selection, follow=False)

    def count(self, model: Table) -> str:
        """How many there are, and their calls."""
        found = self.scope.chain.kernels if self.scope is not None else []
        calls = sum(len(kernel.launches) for kernel in found)
        return f"{number_of(len(distinct(found)), 'kernel')}, {number_of(calls, 'call')}"
