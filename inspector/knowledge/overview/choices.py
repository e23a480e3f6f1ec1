"""Remarks about a choice made for a graph, as opposed to something missed: an overview leaves them out."""

from typing import Final

CHOICES: Final = frozenset({
    "channels-last", "constants", "layout-constraint", "mutated-inputs", "output-inputs", "output-views",
    "visible-strides",
})  # fmt: skip
"""Codes of remarks of the kind analysis."""
