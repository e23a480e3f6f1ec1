"""See what TorchInductor did to a program: record a compile, walk from a Python line to its kernel and back.

This module stays cheap to import: it is loaded at the start of every watched process, before the program.

May not know any package that has to be installed.
"""

TYPE_CHECKING = False  # for type checkers; importing `typing` takes longer than everything else here
if TYPE_CHECKING:
    from typing import Any

    from inspect_compile.child.capture import capture as capture
    from inspect_compile.child.capture import install as install

__version__ = "0.1.0"

__all__ = ["__version__", "capture", "install"]


def __getattr__(name: str) -> "Any":
    """Load the public names on first use (PEP 562); they bring the probes with them."""
    if name in ("capture", "install"):
        from inspect_compile.child import capture

        return getattr(capture, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
