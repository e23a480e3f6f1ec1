"""The hooks of one process: what keeps each of them harmless, and the registry that installs them and times them.

May not know torch: a probe names the module that it watches, and receives it once the program has imported it.
"""

from inspect_compile.interrupts import let_pass
from inspect_compile.outermost import leave_traceback
from inspect_compile.probe.harmless import describe, uncounted, uncounted_file
from inspect_compile.probe.hook import HookState
from inspect_compile.probe.notes import ENDED, Notes, ThreadCallBuffer
from inspect_compile.probe.registry import NOTHING, Probes, argument
from inspect_compile.probe.replaced import is_replaced, replace
from inspect_compile.probe.untraced import untraced
from inspect_compile.probe.without_frame import plain_of

__all__ = [
    "ENDED",
    "NOTHING",
    "HookState",
    "Notes",
    "Probes",
    "ThreadCallBuffer",
    "argument",
    "describe",
    "is_replaced",
    "leave_traceback",
    "let_pass",
    "plain_of",
    "replace",
    "uncounted",
    "uncounted_file",
    "untraced",
]
