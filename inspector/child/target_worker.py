"""`python -m inspect_compile.child.target_worker sm_90`: compiles for a target what it is handed on stdin.

Each line there is a JSON object: the program's `path` (sys.path), the file of a `graph`, which is removed when it has
been read, or a `remark` to record. It ends with its stdin: when the program ends, however it does.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import traceback

import msgspec

from inspect_compile.child import start
from inspect_compile.facts import Remark

_COMPILER = "inspect_compile.lowering.shadow.compiler"


def main() -> None:
    """Compile until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which then ends this process
    target = sys.argv[1]
    compiled = importlib.import_module(_COMPILER).become(target, _record)
    for line in sys.stdin:
        told = json.loads(line)
        sys.path += [entry for entry in told.get("path", ()) if entry not in sys.path]
        if "remark" in told:
            _record(msgspec.convert(told["remark"], Remark))
        if "graph" in told:
            try:
                compiled(_taken(told["graph"]))
            except Exception as error:
                traceback.print_exc()
                _record(Remark(kind="missed", code="target-failed", message=_reason(target, error)))


def _taken(path: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    with contextlib.suppress(OSError):  # there is more in it, or the program removes it
        os.rmdir(os.path.dirname(path))
    return data


def _record(remark: Remark) -> None:
    """The dump says which graph could not be compiled; the others go on."""
    if start.current is not None:
        start.current.needed().recorder.add(remark)


def _reason(target: str, error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    what = next((line for line in lines if line.startswith("target: ")), "").removeprefix("target: ")
    return f"a graph can't be compiled for {target}{f', because of {what}' if what else ''}: {lines[0]}"


if __name__ == "__main__":
    main()
