"""All actions by name, for textual's command palette."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from inspect_compile.tui.keys.actions import Action, in_palette
from inspect_compile.tui.screens.help import ALL

if TYPE_CHECKING:
    from inspect_compile.tui.screens.main import MainScreen


class Actions(Provider):
    """What the keys do, with the keys; the same list as the help."""

    async def discover(self) -> Hits:
        """All of them."""
        for title, action in self._titled():
            yield DiscoveryHit(title, partial(self._run, action), help=action.what)

    async def search(self, query: str) -> Hits:
        """Those that match."""
        matcher = self.matcher(query)
        for title, action in self._titled():
            score = max(matcher.match(title), matcher.match(action.what) / 2)
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, action), text=title, help=action.what)

    @staticmethod
    def _titled() -> Iterator[tuple[str, Action]]:
        for action in in_palette(ALL):
            yield f"{action.title}   {action.label}", action

    async def _run(self, action: Action) -> None:
        await cast("MainScreen", self.screen).run_named(action)
