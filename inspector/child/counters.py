"""Whether the program reads torch's counters: cache hits become misses while lookups are bypassed."""

import re
import sys
from types import FunctionType, ModuleType

from inspect_compile.torch_compat.targets import COUNTERS

_ASKED = re.compile(r"\bcounters\b|\b(?:fxgraph|autograd)_cache_(?:hit|miss|bypass)\b")
_LONGEST = 1 << 20
"""Maximum number of bytes of a script that are searched."""
_OWN = ("inspect_compile", "torch")


def asks_for_counters() -> bool:
    """True if one of the program's modules holds torch's counters, or its script names them."""
    counters = getattr(sys.modules.get(COUNTERS.module), COUNTERS.attribute, None)
    if counters is None:
        return False
    return _script_names_them() or any(
        any(value is counters for value in list(vars(module).values()))
        for name, module in list(sys.modules.items())
        if type(module) is ModuleType and name.partition(".")[0] not in _OWN
    )


def _script_names_them() -> bool:
    main = sys.modules.get("__main__")
    functions = [value for value in list(vars(main).values()) if type(value) is FunctionType] if main else []
    if any(_ASKED.search(" ".join(function.__code__.co_names)) for function in functions):
        return True
    path = getattr(main, "__file__", None)
    try:
        with open(path, encoding="utf-8", errors="replace") as script:  # type: ignore[arg-type]
            return _ASKED.search(script.read(_LONGEST)) is not None
    except (OSError, TypeError, ValueError):
        return False
