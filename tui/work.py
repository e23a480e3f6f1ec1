"""Work beside the screen."""

from collections.abc import Callable, Coroutine
from typing import Any

from textual.dom import DOMNode
from textual.worker import Worker


def start(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], *, group: str, latest: bool = False) -> None:
    """Run `work` on the screen's loop as long as `node` exists; with `latest`, instead of others of its group.

    It is called only when it begins, so that work whose node is gone leaves no coroutine that nobody awaits.
    """
    _: Worker[None] = node.run_worker(work, group=group, exclusive=latest)
