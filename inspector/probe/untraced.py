"""Keeps Dynamo from tracing functions of ours.

While its callback is active, as in all that a frame calls after a graph break, Dynamo is offered every Python function
that begins to run. One of ours would be compiled like one of the program's: counted, told on stderr, and linked to its
graphs.
"""

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from inspect_compile.torch_compat import dynamo as names


def untraced(*functions: Callable[..., Any], what_they_call: bool) -> None:
    """Let Dynamo pass by these functions, and with `what_they_call` by all that runs until they return.

    Nothing is done before torch is imported: without it there is nobody to trace.
    """
    if "torch._C" not in sys.modules:
        return
    with contextlib.suppress(ImportError, AttributeError):
        skip, go_on = names.FRAME_ACTION.load().SKIP, names.FRAME_ACTION.load().DEFAULT
        strategy = names.FRAME_STRATEGY.load()(skip, skip if what_they_call else go_on)
        for function in functions:
            names.SET_FRAME_STRATEGY.load()(function.__code__, strategy)
