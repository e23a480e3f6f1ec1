"""IR as torch prints it, each piece once.

The text of a value holds the texts of all that it reads: an extern kernel's inputs, a view's buffer, whole. What was
told when it was made is named here instead, `ComputedBuffer(name='buf1', layout=…)`, which saves more than half of the
time and of the bytes.
"""

import re
import threading
import weakref
from typing import Any

from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.ir_text"

_STACK_TRACES = re.compile(r",?\n[ \t]*stack_traces = \{,\n.*?\n[ \t]*\}", re.DOTALL)
"""The user's stack in an IR text: the node's own row has the line."""


class _Telling(threading.local):
    """What this thread is rendering; the compiler's own prints are left alone."""

    def __init__(self) -> None:
        self.whole: frozenset[str] | None = None
        """Buffers to tell whole; None while nothing of ours is being rendered."""
        self.bodies: weakref.WeakKeyDictionary[Any, tuple[int, str]] | None = None


_TELLING = _Telling()


def ir_text(value: Any, new: frozenset[str] = frozenset()) -> str:
    """The text of a value; of the buffers in it those in `new` are told whole, the others named."""
    _TELLING.whole = new
    try:
        return _text(value)
    finally:
        _TELLING.whole = None


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_text(item) for item in value) + "]"
    return _STACK_TRACES.sub("", str(value))


def schedule_text(nodes: Any, bodies: "weakref.WeakKeyDictionary[Any, tuple[int, str]]") -> str:
    """The scheduler nodes as TORCH_COMPILE_DEBUG writes them.

    `bodies` keeps the loop bodies that have been rendered: most are the same before and after fusion.
    """
    _TELLING.bodies = bodies
    try:
        return "".join(f"{node.debug_str()}\n\n\n" for node in nodes)
    finally:
        _TELLING.bodies = None


def install(probes: Probes) -> None:
    """Have buffers answer in short while a text of ours is rendered."""

    def short(buffer: Any, args: Any, kwargs: Any) -> Any:
        whole = _TELLING.whole
        name = getattr(buffer, "name", None)
        if whole is None or name is None or name in whole:
            return NotImplemented
        return f"{type(buffer).__name__}(name='{name}', layout={buffer.layout})"

    for name in names.BUFFER_TEXTS:
        probes.answer(PROBE, name, short)


def install_bodies(probes: Probes) -> None:
    """Have a loop body that has been rendered answer with that text, while a schedule is rendered for us."""

    def known(block: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        found = None if _TELLING.bodies is None else _TELLING.bodies.get(block.graph)
        size = len(block.graph.nodes)
        return found[1] if found is not None and found[0] == size and not kwargs else NotImplemented

    def rendered(state: Any, block: Any, args: Any, kwargs: Any, result: Any) -> None:
        if _TELLING.bodies is not None:
            _TELLING.bodies[block.graph] = len(block.graph.nodes), result

    probes.wrap(PROBE, names.BODY_TEXT, after=rendered)
    probes.answer(PROBE, names.BODY_TEXT, known)
