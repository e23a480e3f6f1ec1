"""The hooks of one process: what makes each harmless, and the registry that installs them and counts their cost.

Knows nothing of torch: a probe names the module that it watches, and is handed that module once the program has
imported it.
"""

from inspect_compile.interrupts import let_pass
from inspect_compile.probe.harmless import Guard, describe, leave_traceback, uncounted
from inspect_compile.probe.hook import HookState
from inspect_compile.probe.notes import ENDED, FAILED, Desk, Notes
from inspect_compile.probe.registry import Account, After, Before, Failed, Followed, Probes
from inspect_compile.probe.replaced import is_replaced, replace

__all__ = [
    "ENDED",
    "FAILED",
    "Account",
    "After",
    "Before",
    "Desk",
    "Failed",
    "Followed",
    "Guard",
    "HookState",
    "Notes",
    "Probes",
    "describe",
    "is_replaced",
    "leave_traceback",
    "let_pass",
    "replace",
    "uncounted",
]
