"""The program's line that called torch."""

import functools
import itertools
import os
import sys
from types import CodeType
from typing import Any, Final

from inspect_compile.facts.trials import Place

_STANDARD: Final = os.path.dirname(os.__file__) + os.sep
_INSTALLED: Final = "site-packages"
_OURS: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep


def caller(depth: int) -> Place:
    """The innermost line that is neither torch's, the standard library's nor ours; `depth`: frames to pass by."""
    frame: Any = sys._getframe(depth)
    torch = os.path.dirname(sys.modules["torch"].__file__ or "") + os.sep
    while frame is not None:
        file = frame.f_code.co_filename
        is_standard = file.startswith(_STANDARD) and _INSTALLED not in file
        if not (is_standard or file.startswith((torch, "<", _OURS))):
            return _place(frame.f_code, frame.f_lasti, file, frame.f_lineno)
        frame = frame.f_back
    return Place("", 0)


@functools.lru_cache(maxsize=1024)
def _place(code: CodeType, instruction: int, file: str, line: int) -> Place:
    begins, _, column, _ = next(itertools.islice(code.co_positions(), instruction // 2, None), (None, None, None, None))
    return Place(file, line, -1 if column is None or begins != line else column)
