"""What floating types can hold: values that are no numbers, and the largest number of each (IEEE 754, and bfloat16)."""

from typing import Final

NAN: Final = "NaN"
INF: Final = "Inf"
KINDS: Final = (NAN, INF)
"""Values that are not finite, as facts and tables name them."""
HALF: Final = ("float16", "bfloat16")
LARGEST: Final[dict[str, float]] = {
    "float16": 65504.0,
    "bfloat16": 3.3895313892515355e38,
    "float32": 3.4028234663852886e38,
}
"""Of the types that values outgrow."""
EPSILON: Final[dict[str, float]] = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
}
"""The distance from 1 to the next number."""
SMALLEST: Final[dict[str, float]] = {
    "float16": 2.0**-14,
    "bfloat16": 2.0**-126,
    "float32": 2.0**-126,
    "float64": 2.0**-1022,
}
"""Below it, numbers lose digits, or are flushed to zero."""
