"""Keys that a text of a view names: the key itself is bound where the other ones are."""

from typing import Final

BREAKS_KEY: Final = "B"
"""In the overview: the frame with graph breaks or recompiles."""
WHOLE_KEY: Final = "R"
"""In the overview: everything about the run."""
UNFOLD: Final = "u"
"""Shows the prologue of a kernel's source, or hides it."""
BUFFERS: Final = "buffers"
"""A mode of Memory."""
PEAK_KEY: Final = "curve"
"""Key of its row that says who holds the peak."""
