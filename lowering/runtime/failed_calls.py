"""An error that came out of a graph's code when it was called, and ended the program: it refuses an input, say.

No hook of torch's sees it, and no call may be wrapped for it. The traceback is read when the process ends.
"""

import linecache
import traceback
from pathlib import Path
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Remark
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.lowering.core import values

CODE: Final = "failed-call"
_WRAPPER: Final = "call"
"""Name of the function of a wrapper that calls its kernels."""
_LONGEST: Final = 20_000_000
_MOST: Final = 300
"""Maximum characters of what was raised."""


def failed_call(error: BaseException | None, root: Path) -> list[Fact]:
    """The remark, if `error` came out of the code of a graph whose output_code.py is in the dump; else nothing."""
    if not isinstance(error, Exception):
        return []
    frames = list(traceback.walk_tb(error.__traceback__))
    for at in range(len(frames) - 1, -1, -1):
        frame, line = frames[at]
        graph = _graph(frame.f_code.co_filename, root) if frame.f_code.co_name == _WRAPPER else ""
        if not graph:
            continue
        callers = [(one.f_code, number) for one, number in frames[:at] if not is_library(one.f_code.co_filename)]
        place = values.location(callers[-1][0].co_filename, callers[-1][1], callers[-1][0].co_name) if callers else None
        code = linecache.getline(frame.f_code.co_filename, line).strip()
        message = traceback.format_exception_only(error)[-1].strip().partition("\n")[0][:_MOST]
        return [
            Remark(
                graph=graph,
                kind="missed",
                code=CODE,
                message=f"{message}: `{code}` at {paths.OUTPUT_CODE}.py:{line}",
                numbers={"line": line},
                where=values.line_text(place),
                place=place,
            )
        ]
    return []


def _graph(file: str, root: Path) -> str:
    """The graph whose wrapper a file is, by its text; empty if it is none's."""
    loaded = Path(file)
    try:
        size = loaded.stat().st_size
        if size > _LONGEST:
            return ""
        for code in root.glob(f"{paths.GRAPHS}/*/{paths.OUTPUT_CODE}.py"):
            if code.stat().st_size == size and code.read_bytes() == loaded.read_bytes():
                return code.parent.name
    except OSError:
        return ""  # a program that was typed has no file
    return ""
