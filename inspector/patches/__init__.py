"""Writes changes into source files, as a diff: the formatting of what is not changed stays as it is.

Knows nothing of dumps or of why something is changed, and neither runs nor imports what it reads.
"""

from inspect_compile.patches.patch import Patched, patch

__all__ = ["Patched", "patch"]
