"""Reading the dump, while it grows too, and opening what a row of the tree stands for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from textual.widgets import Static

from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError, DumpError
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.dump_text import advised
from inspect_compile.tables.styled_text import StyledLine, styled
from inspect_compile.tui.models.chain import Chain, Choice
from inspect_compile.tui.models.outline import Outline, Place
from inspect_compile.tui.models.sheet import Subject
from inspect_compile.tui.models.state import GraphState, graph_state, progress_now
from inspect_compile.tui.reader import follow
from inspect_compile.tui.screens.shown import MEDIUM, OVERVIEW, ShownScreen, slots_of
from inspect_compile.tui.views import VIEWS, load
from inspect_compile.tui.views.view import Scope, View
from inspect_compile.tui.widgets.lines import Lines
from inspect_compile.tui.work import start

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.misses import Miss
    from inspect_compile.tui.views.program import Program

ENOUGH_LOOKS: Final = 2
"""Number of reads of a graph after its compile has ended: its tables are not all written at the same moment."""


class OpeningScreen(ShownScreen):
    """What is open: the run, a frame, or a graph, as far as it has been written."""

    def __init__(self, dump: Dump, program: "Program | None") -> None:
        super().__init__(dump, program)
        self._misses: list[tuple[Miss, Subject]] = []
        self._findings = 0
        """Number of findings about the open graph."""
        self._progress_words = self._stage_words = ""
        """What is being compiled, at length and in short."""
        self._looks_after_end = 0
        self._could_not_read = False
        """Whether what is open could not be read when it was last looked at."""
        self._wants_misses = False
        self._last: Scope | None = None
        """The graph that was opened last, and what its views show if they are not seen now."""

    # Reading

    async def _read(self) -> None:
        await follow(self._reader, lambda: self._is_running, self._take, self._guarded)

    def on_unmount(self) -> None:
        """Close the reader."""
        self._reader.close()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """A dump can contain anything: an error while reading is shown, and the app goes on."""
        try:
            yield
        except CommandError as error:
            words = advised(error) if isinstance(error, DumpError) else str(error)
            self._could_not_read = True
            self._show_failure([styled(f"✗ {words}", "bad")])
        except Exception as error:
            self._could_not_read = True
            self._show_failure([styled(f"✗ This cannot be shown: {type(error).__name__}: {error}", "bad")])

    def _show_failure(self, page: Sequence[StyledLine] | None) -> None:
        banner = self.query_one("#failure", Static)
        banner.display = page is not None
        if page is not None:
            from inspect_compile.tui.widgets.page import content_of

            banner.update(content_of(page))

    @property
    def _is_running(self) -> bool:
        return self._program is not None and self._program.status() is None

    @property
    def is_live(self) -> bool:
        """Whether the program runs, or the dump can still grow."""
        return self._is_running or (self._outline is not None and self._outline.is_growing)

    async def _take(self, found: Outline, has_grown: bool) -> None:
        """Show the tree, and what has changed in the place that is open."""
        self._outline = found
        tree = self.query_one("#tree", Lines)
        tree.show(found.table)
        self._progress_words = self._stage_words = ""
        if found.is_growing:
            self._stage_words, self._progress_words = await self._reader.read(progress_now)
        is_unfinished = has_grown and self._looks_after_end < ENOUGH_LOOKS
        if self._place.kind != "graph" or is_unfinished or self._could_not_read:
            await self._open(found.places.get("run", self._place) if self._place.kind == "run" else self._place)
        self._say()

    # Opening

    async def _open(self, place: Place) -> None:
        """Show what a row of the tree stands for."""
        with self._guarded():
            if place.kind == "graph":
                await self._open_graph(place)
            else:
                await (self._open_overview(place) if place.kind == "run" else self._open_page(place))
            self._could_not_read = False

    async def _open_graph(self, place: Place) -> None:
        is_other = place.name != self._place.name
        self._place = place
        names = slots_of(self.size.width, self.active, self._latest)
        last = self._last
        known = last if last is not None and last.chain.graph == place.name and not self.is_live else None

        def build(dump: Dump) -> tuple[GraphState, Chain]:
            for name in names:
                load(name)  # importing takes long enough to hold up keys, but for on this thread
            return graph_state(CompiledGraph(dump, place.name)), known.chain if known else Chain(
                CompiledGraph(dump, place.name)
            )

        found, chain = await self._reader.read(build)
        if self._place.name != place.name:  # another one was opened meanwhile
            return
        self._looks_after_end = (0 if is_other else self._looks_after_end) + found.has_ended
        self._show_failure(found.failure)
        self._scope = self._last = known or Scope(chain, last.version + 1 if last is not None else 0)
        self._choice = self._rechosen(chain, is_other)
        self._misses, self._findings = ([], 0) if is_other and known is None else (self._misses, self._findings)
        self._arrange()
        for view in self._views():
            view.choice = self._choice
            view.update(self._scope)
        if self.focused is None:
            self._focus_active()
        self._say()
        self._wants_misses = True

    def _rechosen(self, chain: Chain, is_other: bool) -> Choice | None:
        """The selection in a graph that has grown; in another graph only a source line keeps its meaning."""
        if self._choice is None or (is_other and self._choice.subject.level != "line"):
            return None
        return chain.choose(self._choice.subject, self._choice.view if not is_other else "")

    async def _open_overview(self, place: Place) -> None:
        from inspect_compile.tui.models.run.overview import OverviewPage
        from inspect_compile.tui.views.overview import OverviewView

        self._place, self._scope = place, None
        words, has_program = self._progress_words, self._program is not None
        page = await self._reader.read(lambda dump: OverviewPage(dump, words, has_program=has_program))
        if self._place.kind != "run":  # something else was opened meanwhile
            return
        self._show_failure(None)
        tree = self.query_one("#tree")
        if not tree.has_focus:
            tree.display = self.size.width >= MEDIUM or not page.has_graphs
        self._arrange()
        part = self._parts.get(OVERVIEW)
        if isinstance(part, OverviewView):
            part.show(page)
        if self.focused is None:
            self._focus_active() if page.has_graphs else self.action_focus_tree()
        self._say()

    async def _open_page(self, place: Place) -> None:
        from inspect_compile.tui.models.run import pages
        from inspect_compile.tui.widgets.page import PageView

        self._place, self._scope = place, None

        def built(dump: Dump) -> list[StyledLine]:
            return pages.part_page(place.name) if place.kind == "part" else pages.frame_page(dump, place.name)

        page = await self._reader.read(built)
        self._show_failure(None)
        self._arrange()
        part = self._parts.get("page")
        if isinstance(part, PageView):
            part.show(page)
        if self.focused is None:
            self.action_focus_tree()
        self._say()

    async def _open_key(self, key: str) -> bool:
        """Open the row of the tree with `key`; False if there is none."""
        place = self._outline.places.get(key) if self._outline is not None else None
        if place is None:
            return False
        tree = self.query_one("#tree", Lines)
        tree.display = True
        tree.begin(tree.find_key(key) or 0)
        await self._open(place)
        return True

    async def _open_named(self, graph: str) -> bool:
        """Open a graph by its name, if it is not open; False if the tree has none of it."""
        if graph == self._place.name and self._scope is not None:
            return True
        places = self._outline.places if self._outline is not None else {}
        key = next((key for key, one in places.items() if one.kind == "graph" and one.name == graph), "")
        return await self._open_key(key)

    async def _enter(self, key: str) -> None:
        if await self._open_key(key):
            self._arrange()
            self._focus_active()
            self._say()

    # What takes longest

    def on_view_loaded(self, event: View.Loaded) -> None:
        """Look for misses once the views have what they show: that takes longest, and is said in a corner."""
        event.stop()
        waiting = any(view.display and view.is_loading for view in self._views())
        if self._wants_misses and not waiting and self._scope is not None:
            self._wants_misses = False
            start(self, partial(self._find_misses, self._scope), group="misses", latest=True)

    async def _find_misses(self, scope: Scope) -> None:
        def look(dump: Dump) -> "tuple[list[tuple[Miss, Subject]], int]":
            from inspect_compile.tui.models.fusion import count_findings, misses  # on this thread, for it takes long

            found = misses(dump, scope.chain), count_findings(dump, scope.chain)
            _load_the_rest()
            return found

        with self._guarded():
            found = await self._reader.read(look)
            if scope is self._last:
                self._misses, self._findings = found
                self._say()


def _load_the_rest() -> None:
    """Import what is not shown yet, so that no key has to wait for it."""
    for tab in VIEWS:
        load(tab.name)
    from inspect_compile.tui.screens import columns, compare, go_to, help, palette, quit, saving  # noqa: A004, F401
