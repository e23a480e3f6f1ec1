"""`python -m inspect_compile.child.target_worker sm_90`: compiles for a target what it is handed on stdin.

The first line there is the program's sys.path, as JSON; every other one is the path of a graph, which is removed once
it is compiled. It ends with its stdin: when the program ends, however it does.
"""

import importlib
import json
import os
import signal
import sys
import traceback

from inspect_compile.child import start
from inspect_compile.facts import Remark

_COMPILER = "inspect_compile.lowering.shadow.compiler"


def main() -> None:
    """Compile until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program, which then ends this process
    target = sys.argv[1]
    sys.path += [entry for entry in json.loads(sys.stdin.readline()) if entry not in sys.path]
    compiled = importlib.import_module(_COMPILER).become(target)
    for line in sys.stdin:
        path = line.rstrip("\n")
        with open(path, "rb") as file:
            data = file.read()
        os.unlink(path)
        try:
            compiled(data)
        except Exception as error:
            traceback.print_exc()
            _tell(target, error)


def _tell(target: str, error: Exception) -> None:
    """The dump says which graph could not be compiled; the others go on."""
    if start.current is None:
        return
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    what = next((line for line in lines if line.startswith("target: ")), "").removeprefix("target: ")
    message = f"a graph can't be compiled for {target}{f', because of {what}' if what else ''}: {lines[0]}"
    start.current.needed().recorder.add(Remark(kind="missed", code="target-failed", message=message))


if __name__ == "__main__":
    main()
