"""The door: Python imports this module when it starts, because `inspect-compile run` put this folder on PYTHONPATH.

It opens for processes that carry our environment variable, and leaves no trace of itself: then the `sitecustomize` that
a plain run would have imported is imported in its place, with the same effects, errors and absence.
"""

import os
import sys


def _enter() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    sys.path_importer_cache.pop(folder, None)
    text = os.environ.get("INSPECT_COMPILE")
    if text is None:
        return
    try:
        from inspect_compile.child import start

        start.begin(text)
    except Exception:
        # An interpreter that inspect-compile is not installed for, or a fault of ours. Python would print it, and the
        # program's stderr is the program's.
        return


_enter()

# The import system takes what stands in sys.modules after this module has run. Where there is no other sitecustomize,
# the ModuleNotFoundError is the one that `site` expects then.
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402, F401
