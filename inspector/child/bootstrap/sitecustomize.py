"""The bootstrap: Python imports this module at startup, because `inspect-compile run` put this folder on PYTHONPATH.

It acts in processes that carry our environment variable, and leaves no trace of itself: then the `sitecustomize` that a
plain run would have imported is imported in its place, with the same effects, errors and absence.
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
        # An interpreter that inspect-compile is not installed for, or an error of ours. Python would print it to
        # stderr, which belongs to the program.
        return


_enter()

# The import system uses the entry of sys.modules after this module has run. If there is no other sitecustomize, `site`
# expects the ModuleNotFoundError.
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402, F401
