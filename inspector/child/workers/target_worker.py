"""`python -m inspect_compile.child.workers.target_worker sm_90`: compiles for a target what it receives on stdin.

Each line is a JSON object: the program's `path` (sys.path), the file of a `graph`, which is removed after reading, or a
`remark` to record. It ends when its stdin is closed, which happens however the program ends.
"""

import contextlib
import importlib
import json
import os
import sys
import traceback

import msgspec

from inspect_compile.child import start
from inspect_compile.facts import Remark

_COMPILER = "inspect_compile.lowering.intervention.cross_compile.compiler"


def main() -> None:
    """Compile until stdin is closed."""
    target = sys.argv[1]
    compiler = importlib.import_module(_COMPILER)
    compiled = compiler.compiler_for(target, start.record)
    for line in sys.stdin:
        request = json.loads(line)
        sys.path += [entry for entry in request.get("path", ()) if entry not in sys.path]
        if "remark" in request:
            start.record(msgspec.convert(request["remark"], Remark))
        if "graph" in request:
            data = _taken(request["graph"])
            try:
                compiled(data)
            except Exception as error:
                traceback.print_exc()
                start.record(compiler.failed(target, data, error))


def _taken(path: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read()
    os.unlink(path)
    with contextlib.suppress(OSError):  # there is more in it, or the program removes it
        os.rmdir(os.path.dirname(path))
    return data


if __name__ == "__main__":
    main()
