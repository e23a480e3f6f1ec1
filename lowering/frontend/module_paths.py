"""The path of the nn.Module whose method is compiled, in the outermost module that is being called.

Only the variables of torch's own `Module._call_impl` are looked at: those of the program's frames would be kept alive.
"""

from collections import deque
from typing import Any, Final

from inspect_compile.lowering.core import values
from inspect_compile.torch_compat import frames
from inspect_compile.torch_compat.attributes import ORIGINAL_MODULE, SUBMODULES

_MOST: Final = 20_000
"""Modules that are looked through."""


def path_of_module(method_of: Any) -> str:
    """`layers.0.mlp`, of `method_of`, which is the frame's `self`, or where that is no module of the innermost one that
    is being called. Empty where nothing called it, for the outermost one, and for one that is no part of that.
    """
    running = [found["self"] for found in values.frames_of(frames.CALLS_MODULE) if "self" in found]
    if not running:
        return ""
    wanted = method_of if SUBMODULES in _attributes(method_of) else running[0]
    return _path(running[-1], wanted)


def _path(root: Any, wanted: Any) -> str:
    waiting: deque[tuple[Any, tuple[str, ...]]] = deque([(root, ())])
    seen = {id(root)}
    while waiting and len(seen) <= _MOST:
        module, names = waiting.popleft()
        if module is wanted:
            return ".".join(name for name in names if name != ORIGINAL_MODULE)
        for name, below in (_attributes(module).get(SUBMODULES) or {}).items():
            if below is not None and id(below) not in seen:
                seen.add(id(below))
                waiting.append((below, (*names, name)))
    return ""


def _attributes(of: Any) -> dict[str, Any]:
    """Without asking a method of the program's."""
    try:
        found = object.__getattribute__(of, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
