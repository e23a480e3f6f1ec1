"""What a cost is counted in."""

from typing import Final, Literal

Of = Literal["time", "bytes", "flops"]
TIME: Final = "time"
BYTES: Final = "bytes"
FLOPS: Final = "flops"
OF: Final[tuple[Of, ...]] = (TIME, BYTES, FLOPS)
"""What the width of a call of a flame can be."""
