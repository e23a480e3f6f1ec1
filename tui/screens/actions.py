"""All groups of actions, the views' first: what help, palette and the tests go through."""

from typing import Final

from inspect_compile.tui.keys.actions import GROUPS, Group, of_views
from inspect_compile.tui.views import VIEWS

ALL: Final[tuple[Group, ...]] = (of_views(VIEWS), *GROUPS)
