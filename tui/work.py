"""Work beside the screen."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol, cast

from textual.dom import DOMNode
from textual.worker import Worker

if TYPE_CHECKING:
    from inspect_compile.tui.models.stages import Assembled


def start(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], *, group: str, latest: bool = False) -> None:
    """Run `work` on the screen's loop as long as `node` exists; with `latest`, instead of others of its group.

    It is called only when it begins, so that work whose node is gone leaves no coroutine that nobody awaits. It has a
    description, as textual otherwise describes it by its `repr`: that of all arguments, which can be thousands of rows.

    A worker can be in a cycle with its task, and is kept for long, or for good if it is there when the reader freezes
    what it has read: neither `work` nor, through a traceback, what its frames had must be reached from it.

    A screen's widgets are taken down before its workers are cancelled: what work raises then, it raises for that.
    """
    waiting = [work]

    async def begun() -> None:
        is_cancelled = False
        try:
            await waiting.pop()()
        except asyncio.CancelledError:
            is_cancelled = True
        except Exception:
            if _is_shown(node):
                raise
        if is_cancelled:
            raise asyncio.CancelledError

    _: Worker[None] = node.run_worker(begun, group=group, description=group, exclusive=latest)


def _is_shown(node: DOMNode) -> bool:
    app = node.app
    return app.is_running and node.is_attached and node.screen in app.screen_stack


class _Tools(Protocol):
    assemble: "Callable[[str], Assembled] | None"


def assembler(node: DOMNode) -> "Callable[[str], Assembled] | None":
    """What compiles and disassembles a C++ source, raising CommandError; None if the app was started without it."""
    return cast("_Tools", node.app).assemble
