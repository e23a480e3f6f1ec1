"""The view of kernels."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widget import Widget

from inspect_compile.analysis.kernels.stage_lines import ASSEMBLY
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel
from inspect_compile.graph.kernels.launches import distinct
from inspect_compile.graph.provenance.chain import Selection
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.keys.actions import bindings
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.code import NOTHING, Code
from inspect_compile.tui.models.kernels import (
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
from inspect_compile.tui.models.sheet import Panel, Shown, Table
from inspect_compile.tui.models.stages import Assembled, Staged, assembled, cpp_source, message, staged
from inspect_compile.tui.models.wrapper import output_file
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import assembler, start

_NARROW: Final = 70
"""Width of the view below which notes beside a source alone are short."""
_PAUSE: Final = 0.3
"""Seconds that the cursor stays on a C++ kernel before it is compiled."""
_MAKING: Final = "compiling the source again; this takes some seconds"

ROOMY: Final = 130
"""Width of the view from which source and stage have room for long notes."""


FIRST: Final = 60
"""Number of rows that are shown at once where there are MANY: a screen full."""
MANY: Final = 200


class KernelsView(View):
    """A row for each kernel; below, the source of the one under the cursor, alone or beside one of its stages."""

    PANEL: ClassVar = Panel(modes=(*FORMS, AUTOTUNE), follow="output", modes_are_of_detail=True)
    BINDINGS: ClassVar[list[BindingType]] = bindings("kernels")
    _staged = Staged(NOTHING)
    _stage_key = ""
    _is_whole = False
    """Whether the prologue of a source is shown."""
    _made: dict[str, Assembled]
    """C++ source → its assembly, once it was asked for."""
    _label = ""
    """Label of the requested configuration; a kernel without such a configuration shows the one that runs."""

    def parts(self) -> Iterable[Widget]:
        """Rows, source and stage."""
        self._made = {}
        yield Lines(id="kernels-rows").add_class("rows")
        source, stage = Lines(id="kernels-detail").add_class("detail"), Lines(id="kernels-stage").add_class("detail")
        yield Horizontal(source, stage, id="kernels-panes")

    @property
    def modes(self) -> tuple[str, ...]:
        """Only the source if Triton compiled nothing, and nothing was autotuned."""
        chain = self.scope.chain if self.scope is not None else None
        if chain is None or not (chain.stages or chain.is_tuned or chain.has_cpp):
            return ()
        assembly = (ASSEMBLY,) if chain.has_cpp else ()
        return (SOURCE, *chain.stages, *assembly, *((AUTOTUNE,) if chain.is_tuned else ()))

    @property
    def is_wide(self) -> bool:
        """True if source and stage are side by side."""
        return self.mode in FORMS and self.mode != SOURCE and self.mode in self.modes

    def beginning(self, chain: Chain, mode: str, dump: Dump) -> Shown[Table] | None:
        """The first kernels, where counting the bytes of all would take its time."""
        return Shown(kernels(dump, chain, FIRST)) if len(chain.kernels) > MANY else None

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
        note = SHORT_NOTE if self.size.width < (_NARROW if mode == SOURCE else ROOMY) else NOTE
        is_whole = self._is_whole

        def build(dump: Dump) -> tuple[Code, Staged]:
            if mode == AUTOTUNE:
                return autotune_sheet(dump, kernel), Staged(NOTHING)
            source = kernel_source(dump, chain, kernel, output_file(chain.compiled), note, is_whole=is_whole)
            if mode == SOURCE:
                return source, Staged(NOTHING)
            if mode != ASSEMBLY:
                return source, staged(dump, chain, kernel, source, mode, label)
            if cpp in self._made:
                return source, assembled(dump, chain, kernel, source, self._made[cpp])
            return source, Staged(
                message(ASSEMBLY, _MAKING if cpp else "only C++ kernels have it, if their source was recorded")
            )

        with self.guarded():
            cpp = await self.reader.read(lambda dump: cpp_source(dump, kernel)) if mode == ASSEMBLY else ""
            self._show_source(kernel, mode, *await self.reader.read(build))
            if cpp and cpp not in self._made:
                try:
                    self._made[cpp] = await self._assembled(cpp)
                except CommandError as error:
                    source, _ = await self.reader.read(build)
                    self._show_source(kernel, mode, source, Staged(message(ASSEMBLY, one_line(str(error)))))
                else:
                    self._show_source(kernel, mode, *await self.reader.read(build))

    async def _assembled(self, cpp: str) -> Assembled:
        """Compile it, unless the cursor moves on at once; raises CommandError."""
        await asyncio.sleep(_PAUSE)
        assemble = assembler(self)
        if assemble is None:
            raise CommandError("only `inspect-compile open` makes it")
        return await asyncio.to_thread(assemble, cpp)

    def _show_source(self, kernel: Kernel, mode: str, source: Code, beside: Staged) -> None:
        self._staged = beside
        of = kernel_key(kernel)
        self.show_detail(of if mode != AUTOTUNE else f"{mode} {of}", source)
        key = f"{mode} {self._staged.label} {of}"
        (self._stage.show if key == self._stage_key else self._stage.restart)(self._staged.code)
        self._stage_key = key
        if self.is_wide:
            self._link(self._source)
        self._mark_statements()

    def action_unfold(self) -> None:
        """Show what comes before the first loop of a source, or hide it."""
        self._is_whole = not self._is_whole
        self.moved(self.rows)

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
        else:
            self.notify("no configurations here: only Triton kernels have them, beside one of their stages (s)")

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
        (self._stage if is_source else self._source).link(links.get(lines.position, ()))
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
