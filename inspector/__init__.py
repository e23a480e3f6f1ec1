"""See what TorchInductor did to a program: record a compile, walk from a Python line to its kernel and back.

This module stays cheap to import: it is loaded at the start of every watched process, before the program.

May not know any package that has to be installed.
"""

TYPE_CHECKING = False  # for type checkers; importing `typing` takes longer than everything else here
if TYPE_CHECKING:
    from typing import Any

    from inspect_compile.api.capture import capture as capture
    from inspect_compile.api.recording import Recording as Recording
    from inspect_compile.api.recording import open_dump as open_dump
    from inspect_compile.child.capture import install as install
    from inspect_compile.errors import CommandError as CommandError
    from inspect_compile.errors import DumpError as DumpError

__version__ = "0.1.0"

__all__ = ["CommandError", "DumpError", "Recording", "__version__", "capture", "install", "open_dump"]

_HOMES = {
    "CommandError": "errors",
    "DumpError": "errors",
    "Recording": "api.recording",
    "capture": "api.capture",
    "install": "child.capture",
    "load_ipython_extension": "api.magic",
    "open_dump": "api.recording",
}
"""The module of each public name; `%load_ext inspect_compile` asks for the name that is not in `__all__`."""


def __getattr__(name: str) -> "Any":
    """Load the public names on first use (PEP 562); they bring the probes with them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # by name: a recorded process gets views only if its program asks for them

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
