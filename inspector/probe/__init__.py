"""The hooks of one process: what keeps each of them harmless, and the registry that installs them and measures their
cost.

Imports no torch: a probe names the module that it watches, and receives that module once the program has imported it.

May not know torch: a probe names what it watches, and is handed it.
"""

from inspect_compile.interrupts import let_pass
from inspect_compile.probe.harmless import Guard, describe, leave_traceback, uncounted
from inspect_compile.probe.hook import HookState
from inspect_compile.probe.notes import ENDED, FAILED, Notes, ThreadCallBuffer
from inspect_compile.probe.registry import Account, After, Before, Failed, Followed, Probes, argument
from inspect_compile.probe.replaced import is_replaced, replace

__all__ = [
    "ENDED",
    "FAILED",
    "Account",
    "After",
    "Before",
    "Failed",
    "Followed",
    "Guard",
    "HookState",
    "Notes",
    "Probes",
    "ThreadCallBuffer",
    "argument",
    "describe",
    "is_replaced",
    "leave_traceback",
    "let_pass",
    "replace",
    "uncounted",
]
