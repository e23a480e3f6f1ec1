"""The selection, which holds in all views: made, followed, left and come back to."""

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Final

from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph, outermost
from inspect_compile.tui.keys.history import History, Stop
from inspect_compile.tui.models.outline import Outline
from inspect_compile.tui.models.sheet import Jump, Subject
from inspect_compile.tui.screens.opening import OpeningScreen
from inspect_compile.tui.screens.shown import OVERVIEW
from inspect_compile.tui.views import VIEWS
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

if TYPE_CHECKING:
    from inspect_compile.analysis.lookup.answer import Answer
    from inspect_compile.analysis.lookup.anything import Thing
    from inspect_compile.tui.models.run.overview import Lead
    from inspect_compile.tui.views.overview import OverviewView
    from inspect_compile.tui.views.program import Program

_TITLES: Final = {view.name: view.title for view in VIEWS}


class SelectingScreen(OpeningScreen):
    """One selection at every level, and the ways that lead to another."""

    def __init__(self, dump: Dump, program: "Program | None") -> None:
        super().__init__(dump, program)
        self._history = History()
        self._is_read = False
        """Whether it is known what a view can show first."""
        self._awaited = ""
        """The view whose key was pressed before that."""
        self._asked = 0
        """Number of times that the user asked for a view."""

    async def _take(self, found: Outline, has_grown: bool) -> None:
        await super()._take(found, has_grown)
        self._is_read = True
        if self._awaited:
            self.action_view(self._awaited)

    def action_view(self, name: str) -> None:
        """Show a view and focus it; as soon as the tree has been read, if that is still to come. What leads to another
        view, and is not there yet, ends where it is.
        """
        self._asked += 1
        self._awaited = "" if self._is_read or name in (OVERVIEW, "program") else name
        if self._awaited:
            return
        if name == OVERVIEW:
            self._latest = tuple(view for view in self._latest if view != "program") or ("source",)
            start(self, partial(self._enter, "run"), group="open", latest=True)
            return
        self._latest = (name, *(view for view in self._latest if view != name))
        page = getattr(self._parts.get(OVERVIEW), "page", None)
        if self.active == OVERVIEW and page is not None and (lead := page.leads.get(name)) is not None:
            start(self, partial(self._lead, lead), group="open", latest=True)
            return
        if self._place.kind != "graph" and name != "program" and self._outline is not None:
            key = self._outline.first_graph
            if key is not None:
                start(self, partial(self._enter, key), group="open", latest=True)
                return
            when = "yet" if self.is_live else "in this dump: the page says why"
            self.notify(f"{_TITLES[name]}: there is no graph {when}", severity="warning", markup=False)
        self._arrange()
        self._focus_active()
        self._say()

    # Choosing

    def _choose(self, subject: Subject | None, view: str, *, is_step: bool = False) -> None:
        scope = self._scope
        self._choice = scope.chain.choose(subject, view) if scope is not None and subject is not None else None
        if self._choice is not None:
            self._history.add(Stop(self._place, view, self._choice.subject), is_step=is_step)
        for found in self._views():
            found.mark(self._choice)
        self._say()

    def action_forget(self) -> None:
        """Clear the filter of the focused list; without one the selection and the search."""
        focused = self.focused_lines()
        if focused is not None and focused.arrangement.text:
            focused.rearrange(focused.arrangement._replace(text=""))
            return
        self._sought = ""
        for lines in self.query(Lines):
            lines.search("", 1)
        self._choose(None, self.active)

    def on_view_chosen(self, event: View.Chosen) -> None:
        """Mark at every level what the user selected in one view."""
        event.stop()
        self._choose(event.subject, event.view.tab.name, is_step=event.is_step)

    def on_view_followed(self, event: View.Followed) -> None:
        """Select it, and go to the next level."""
        event.stop()
        self._choose(event.subject, event.view.tab.name)
        self.action_view(event.view.panel.follow)

    def action_lowering(self) -> None:
        """Show how the node under the cursor was lowered, in whichever view it is."""
        view = self._view(self.active)
        if view is not None and view.is_ready and view.rows.subject is not None:
            self._choose(view.rows.subject, view.tab.name)
        self.action_view("ir")

    # Leading on

    def on_view_jumped(self, event: View.Jumped) -> None:
        """Show a node of another FX graph, possibly of another Inductor graph."""
        event.stop()
        start(self, partial(self._jump, event.jump), group="open", latest=True)

    async def _jump(self, jump: Jump) -> None:
        asked = self._asked
        if jump.graph and not await self._open_named(jump.graph):
            return
        if asked != self._asked:
            return
        self.action_view("fx")
        view = self._view("fx")
        if isinstance(view, View):
            view.go_to(jump.mode, jump.key)

    def on_overview_view_led(self, event: "OverviewView.Led") -> None:
        """Show what a row of the overview is about."""
        event.stop()
        start(self, partial(self._lead, event.lead), group="open", latest=True)

    async def _lead(self, lead: "Lead") -> None:
        key = f"frame {lead.frame}" if lead.frame else f"graph {lead.graph}"
        asked = self._asked
        if not await self._open_key(key) or asked != self._asked:
            return
        if not lead.view:
            self.action_focus_tree()
            return
        self.action_view(lead.view)
        if lead.line is not None and self._scope is not None:
            self._choose(self._scope.chain.of_line(lead.line), OVERVIEW)
        if (found := lead.finding) is not None:
            from inspect_compile.tui.models.fusion import FINDINGS, finding_key

            asked = self._asked
            row = ""
            with self._guarded():
                row = await self._reader.read(lambda dump: finding_key(CompiledGraph(dump, lead.graph), found))
            if asked != self._asked:
                return
            lead = lead._replace(row=(FINDINGS, row) if row else None)
        view = self._view(lead.view)
        if view is not None and lead.row is not None:
            view.go_to(*lead.row)

    # Back and forward

    def action_step(self, by: int) -> None:
        """Back to the selection before (-1), or forward (1), where it was made."""
        stop = self._history.step(by)
        if stop is None:
            self.notify("no earlier selection" if by < 0 else "no later selection")
            return
        start(self, partial(self._show_stop, stop), group="open", latest=True)

    async def _show_stop(self, stop: Stop) -> None:
        asked = self._asked
        if await self._open_named(stop.place.name) and asked == self._asked:
            self._show_chosen(stop.subject, stop.view)

    def _show_chosen(self, subject: Subject, view: str) -> None:
        """Go to a view, and there to what is selected."""
        scope = self._scope
        self._choice = scope.chain.choose(subject, "") if scope is not None else None
        for found in self._views():
            found.mark(self._choice)
        self.action_view(view or self.active)

    # Going to a name

    async def action_go_to(self) -> None:
        """Ask for a name, and go to what has it."""
        from inspect_compile.analysis.lookup.anything import find_anything
        from inspect_compile.tui.screens.go_to import GoToScreen

        def resolve(text: str) -> "Awaitable[Answer[Thing]]":
            return self._reader.read(lambda dump: find_anything(dump, text))

        await self.app.push_screen(GoToScreen(resolve), self._go_to_thing)

    def _go_to_thing(self, thing: "Thing | None") -> None:
        if thing is not None:
            start(self, partial(self._show_thing, thing), group="open", latest=True)

    async def _show_thing(self, thing: "Thing") -> None:
        from inspect_compile.tui.keys.things import jump_to, subject_of, view_of

        jump, asked = jump_to(thing), self._asked
        if jump is not None:
            await self._jump(jump)
        elif not await self._open_named(outermost(thing.graph)):
            self.notify(f"{thing.graph}: the tree has no such graph", severity="warning", markup=False)
        elif self._scope is not None and asked == self._asked:
            subject = subject_of(thing, self._scope.chain)
            if subject is None:
                self.action_view(self.active)
                return
            self._show_chosen(subject, view_of(thing))
            self._history.add(Stop(self._place, view_of(thing), subject), is_step=False)
