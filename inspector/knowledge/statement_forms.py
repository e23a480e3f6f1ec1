"""What statements look like in the kernels that Inductor writes."""

import re
from typing import Final

_TRITON: Final = re.compile(r"(?:(?P<names>_?tmp\w*(?:\s*,\s*_?tmp\w*)*)\s*=[^=]|tl\.(?:store|atomic_\w+)\()")
_CPP: Final = re.compile(
    r"(?:(?:(?:const|static|volatile|auto|bool|float|double|int|long|half|unsigned|u?int\d+_t|at::\S+|c10::\S+|"
    r"std::\S+)[\s&]+)*(?P<names>_?tmp\w*)\s*=[^=]"
    r"|(?:in_)?out_ptr\w*\[.*\]\s*[+*]?=[^=]|\S+\.store\((?:in_)?out_ptr|atomic_add\w*(?:<[^;]*>)?\(&?(?:in_)?out_ptr)"
)


def assigned(line: str, *, is_cpp: bool) -> tuple[str, ...]:
    """The variables of a loop's values that a statement assigns to."""
    found = (_CPP if is_cpp else _TRITON).match(line)
    names = found["names"] if found is not None else None
    return tuple(name.strip() for name in names.split(",")) if names else ()


def is_statement(line: str, *, is_cpp: bool) -> bool:
    """Does the line, without the blanks before it, compute a value or store one?"""
    return (_CPP if is_cpp else _TRITON).match(line) is not None
