"""Prints IR as torch does, but each piece only once.

The text of a value contains the texts of everything it reads: an extern kernel's inputs, a view's buffer, in full. What
was printed when it was made is named here instead, `ComputedBuffer(name='buf1', layout=…)`, and the user's stack, which
the node's row has, is left out. That saves most of the time and of the bytes.
"""

import threading
from typing import Any

from inspect_compile.lowering.core.scopes import Scope
from inspect_compile.lowering.ir.ir_printer import Printer
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.ir_text"


class _Telling(threading.local):
    """What this thread is rendering; the compiler's own prints are left alone."""

    def __init__(self) -> None:
        self.whole: frozenset[str] | None = None
        """Buffers to print in full; None while we render nothing."""


class _Installed:
    """What `install` was given."""

    probes: Probes | None = None


_TELLING = _Telling()


def ir_text(scope: Scope, value: Any, new: tuple[str, ...] = ()) -> str:
    """The text of a value of `scope`'s graph; buffers in `new` are printed in full, others by name.

    An input of an extern kernel is printed in full only if no earlier text has it. Empty if texts are not recorded.
    """
    if _Installed.probes is None or not _Installed.probes.keeps_texts:
        return ""
    printer: Printer | None = scope.stash.get(PROBE)
    if printer is None:
        printer = scope.stash[PROBE] = Printer()
    _TELLING.whole = whole = frozenset(new)
    try:
        return printer.text(value, whole)
    finally:
        _TELLING.whole = None


def install(probes: Probes) -> None:
    """Let buffers print in short form while one of our texts is rendered."""
    _Installed.probes = probes

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
