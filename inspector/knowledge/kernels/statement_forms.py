"""The form of statements in the kernels that Inductor writes, in Triton and in C++."""

import functools
import re
from typing import Final

_TYPES: Final = (
    r"(?:(?:const|static|auto|bool|float|double|int|long|half|u?int\d+_t|(?:at|c10|std)::\S+"
    r"|(?:IndexValue|Welford)\w*<[^=;]*>)[\s&]+)*"
)

_ASSIGNS: Final = re.compile(rf"{_TYPES}(_?tmp\w*(?:\s*,\s*_?tmp\w*)*)\s*[-+*|&]?=[^=]")
_STORES: Final = re.compile(
    r"tl\.(?:store|atomic_\w+)\("
    r"|(?:in_)?out_ptr\w*\[.*\]\s*[-+*|&]?=[^=]|\S+\.store\((?:in_)?out_ptr|atomic_add\w*(?:<[^;]*>)?\(&?(?:in_)?out_ptr"
)


@functools.lru_cache(maxsize=4096)
def assigned(line: str) -> tuple[str, ...]:
    """The variables that a statement assigns to."""
    if "tmp" not in line:
        return ()
    found = _ASSIGNS.match(line)
    return () if found is None else tuple(name.strip() for name in found[1].split(","))


def is_statement(line: str) -> bool:
    """True if the line, without leading blanks, computes a value or stores one."""
    return bool(assigned(line)) or (("(" in line or "=" in line) and _STORES.match(line) is not None)
