"""`python -m inspect_compile.child.workers.replay_worker`: compiles the recorded graph again that is described on
stdin.

Reads one JSON object, and writes one with the result to stdout; everything else that is printed goes to stderr.
"""

import importlib
import json
import os
import sys
from typing import Any

from inspect_compile.child import start

_COMPILER = "inspect_compile.lowering.intervention.replay.again"


def main() -> None:
    """Compile it. An exception of torch's is reported, and ends this process as it would end a program."""
    request = json.load(sys.stdin)
    with os.fdopen(os.dup(sys.__stdout__.fileno()), "w") as answers:  # type: ignore[union-attr]
        os.dup2(sys.__stderr__.fileno(), sys.__stdout__.fileno())  # type: ignore[union-attr]

        def answer(**what: Any) -> None:
            json.dump(what, answers)
            answers.flush()

        again = importlib.import_module(_COMPILER)
        try:
            again.again(request, start.record, _become)
        except again.RefusedError as error:
            answer(refused=str(error))
            raise SystemExit(2) from None
        except Exception as error:
            answer(failed=_line(error))
            raise
        answer()


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _become(target: str) -> None:
    """Record in the part what it was compiled for."""
    if start.current is not None:
        start.current.setting.target = target


if __name__ == "__main__":
    main()
