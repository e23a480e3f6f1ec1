"""IR as torch prints it, each piece once.

The text of a value holds the texts of all that it reads: an extern kernel's inputs, a view's buffer, whole. What was
told when it was made is named here instead, `ComputedBuffer(name='buf1', layout=…)`, and the user's stack, which the
node's own row has, is left out. That saves most of the time and of the bytes.
"""

import re
import threading
import weakref
from typing import Any

from inspect_compile.lowering.expressions import PrintedOnce
from inspect_compile.lowering.ir_printer import Printer
from inspect_compile.lowering.scopes import Scope, torch_object
from inspect_compile.lowering.unheard import unheard
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.ir_text"

_DELETIONS = re.compile(r";[^\n]*")
"""`; load = None` behind a statement."""


class _Telling(threading.local):
    """What this thread is rendering; the compiler's own prints are left alone."""

    def __init__(self) -> None:
        self.whole: frozenset[str] | None = None
        """Buffers to tell whole; None while nothing of ours is being rendered."""
        self.bodies: weakref.WeakKeyDictionary[Any, tuple[int, str]] | None = None


_TELLING = _Telling()


def ir_text(scope: Scope, value: Any, new: tuple[str, ...] = ()) -> str:
    """The text of a value of `scope`'s graph; of the buffers in it those in `new` are told whole, the others named.

    An input of an extern kernel only where no earlier text has told it.
    """
    printer: Printer | None = scope.stash.get(PROBE)
    if printer is None:
        printer = scope.stash[PROBE] = Printer()
    _TELLING.whole = whole = frozenset(new)
    try:
        return printer.text(value, whole)
    finally:
        _TELLING.whole = None


def schedule_text(nodes: Any, bodies: "weakref.WeakKeyDictionary[Any, tuple[int, str]]") -> str:
    """The scheduler nodes as TORCH_COMPILE_DEBUG writes them.

    `bodies` keeps the loop bodies that have been rendered: most are the same before and after fusion.
    """
    _TELLING.bodies = bodies
    try:
        # torch logs it where a scheduler node cannot be printed.
        with unheard(torch_object(names.SCHEDULER_LOG)), PrintedOnce():
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

    def none(value: Any, args: Any, kwargs: Any) -> Any:
        return NotImplemented if _TELLING.whole is None else ()

    for name in names.BUFFER_TEXTS:
        probes.answer(PROBE, name, str, short)
    probes.answer(PROBE, names.STACK_TRACES, tuple, none)


def install_bodies(probes: Probes) -> None:
    """Have a loop body answer with a text that is rendered once, while a schedule is rendered for us."""

    def body(block: Any, args: tuple[Any, ...], kwargs: Any) -> Any:
        bodies = _TELLING.bodies
        if bodies is None:
            return NotImplemented
        size = len(block.graph.nodes)
        found = bodies.get(block.graph)
        if found is None or found[0] != size:
            found = bodies[block.graph] = size, body_text(block.graph, *args, **kwargs)
        return found[1]

    probes.answer(PROBE, names.BODY_TEXT, str, body)


def body_text(graph: Any, name: str = "block") -> str:
    """The text that LoopBodyBlock.debug_str makes.

    torch builds a GraphModule for it, which compiles the text, makes itself the graph's owner and takes a number that
    the program's own modules are counted with (`<eval_with_key>.7`).
    """
    code = graph.python_code(root_module="self").src.strip().replace("def forward(", f"def {name}(")
    return _DELETIONS.sub("", code)
