"""The view of kernels."""

from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from inspect_compile.analysis.kernels.launches import distinct
from inspect_compile.analysis.provenance.chain import Selection
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables.text import number_of
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.kernels.kernels import (
    AUTOTUNE,
    FORMS,
    NOTE,
    SHORT_NOTE,
    SOURCE,
    autotune_sheet,
    kernel_key,
    kernel_source,
    kernels,
)
from inspect_compile.tui.models.kernels.stages import Staged, staged
from inspect_compile.tui.models.sheet import Shown, Table
from inspect_compile.tui.models.wrapper import output_file
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

ROOMY: Final = 130
"""Width of the view from which source and stage have room for long notes."""


class KernelsView(View):
    """A row for each kernel; below, the source of the one under the cursor, alone or beside one of its stages."""

    MODES: ClassVar = (*FORMS, AUTOTUNE)
    FOLLOW: ClassVar = "output"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "configuration", "Next configuration", show=False)]
    MODES_ARE_OF_DETAIL: ClassVar = True
    _staged = Staged(NOTHING)
    _stage_key = ""
    _label = ""
    """Label of the requested configuration; a kernel without such a configuration shows the one that runs."""

    def parts(self) -> Iterable[Widget]:
        """Rows, source and stage."""
        yield Lines(id="kernels-rows").add_class("rows")
        source, stage = Lines(id="kernels-detail").add_class("detail"), Lines(id="kernels-stage").add_class("detail")
        yield Horizontal(source, stage, id="kernels-panes")

    @property
    def modes(self) -> tuple[str, ...]:
        """Only the source if Triton compiled nothing, and nothing was autotuned."""
        chain = self.scope.chain if self.scope is not None else None
        if chain is None or not (chain.stages or chain.is_tuned):
            return ()
        return (SOURCE, *chain.stages, *((AUTOTUNE,) if chain.is_tuned else ()))

    @property
    def is_wide(self) -> bool:
        """True if source and stage are side by side."""
        return self.mode in FORMS and self.mode != SOURCE and self.mode in self.modes

    def build(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table]:
        """The kernels, and the number of their calls."""
        calls = sum(len(kernel.launches) for kernel in chain.kernels)
        count = f"{number_of(len(distinct(chain.kernels)), 'kernel')}, {number_of(calls, 'call')}"
        return Shown(kernels(dump, chain), count)

    def moved(self, lines: Lines) -> None:
        """Read the row's text."""
        self.set_class(self.is_wide, "-staged")
        subject = lines.subject
        if self.scope is not None and subject is not None and isinstance(subject.names[0], int):
            kernel = self.scope.chain.kernels[subject.names[0]]
            start(
                self,
                partial(
                    self._read, self.scope.chain, kernel, self.mode if self.mode in self.modes else SOURCE, self._label
                ),
                group="kernel source",
                latest=True,
            )

    async def _read(self, chain: Chain, kernel: Kernel, mode: str, label: str) -> None:
        note = SHORT_NOTE if mode != SOURCE and self.size.width < ROOMY else NOTE

        def build(dump: Dump) -> tuple[Code, Staged]:
            if mode == AUTOTUNE:
                return autotune_sheet(dump, kernel), Staged(NOTHING)
            source = kernel_source(dump, chain, kernel, output_file(dump, chain.graph), note)
            return source, Staged(NOTHING) if mode == SOURCE else staged(dump, chain, kernel, source, mode, label)

        with self.guarded():
            source, self._staged = await self.reader.read(build)
            of = kernel_key(kernel)
            self.show_detail(of if mode != AUTOTUNE else f"{mode} {of}", source)
            key = f"{mode} {self._staged.label} {of}"
            (self._stage.show if key == self._stage_key else self._stage.restart)(self._staged.code)
            self._stage_key = key
            if self.is_wide:
                self._link(self._source)
            self._mark_statements()

    @property
    def _source(self) -> Lines:
        return self.query_one("#kernels-detail", Lines)

    @property
    def _stage(self) -> Lines:
        return self.query_one("#kernels-stage", Lines)

    def action_configuration(self) -> None:
        """Show the stage of the next configuration that was compiled."""
        labels = self._staged.labels
        if labels:
            self._label = labels[(labels.index(self._staged.label) + 1) % len(labels)]
            self.moved(self.rows)

    def on_lines_moved(self, event: Lines.Moved) -> None:
        """Lines of the two lists are linked; a statement stands for its node."""
        if event.lines is not self.rows:
            self._link(event.lines)
        if event.lines is not self.rows and event.lines.subject is not None:
            event.stop()
            self.post_message(self.Chosen(self, event.lines.subject))
        else:
            super().on_lines_moved(event)

    def _link(self, lines: Lines) -> None:
        """Highlight, in the list beside `lines`, what belongs to the row under its cursor."""
        is_source = lines is self._source
        links = self._staged.from_source if is_source else self._staged.to_source
        (self._stage if is_source else self._source).link(links.get(lines.cursor, ()))
        lines.link(())

    def mark(self, choice: Choice | None) -> None:
        """Mark the statements too."""
        super().mark(choice)
        self._mark_statements()

    def _mark_statements(self) -> None:
        if self.is_ready:
            selection = self.choice.selection if self.choice is not None else Selection()
            for lines in (self._source, self._stage):
                lines.mark(selection, follow=False)
