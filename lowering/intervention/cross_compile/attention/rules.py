"""What differs between torch 2.11 and 2.15 in how a GPU chooses its attention kernel.

Sources: the changes of aten/src/ATen/native/transformers (their numbers stand below) and the cuDNN that torch's own
CUDA wheels ask for. Which release a change is in was seen for 2.15 only, by running its own selection; for the others
it follows from the change's date, and where that is close to the day the release was cut, both are thought of.
"""

from typing import Final, NamedTuple

Version = tuple[int, int]
"""(2, 13)"""


class Rules(NamedTuple):
    """Of one torch."""

    cudnn: int
    """Of its CUDA wheel for the newest toolkit: 9.19.0 is 91900. 2.13's is a guess."""
    cudnn_dropout: bool = False
    """cuDNN takes multiples of 1/16 only: #174245."""
    cudnn_grid: bool = False
    """cuDNN takes batches and heads up to 65535: #180718."""
    cudnn_256: bool = False
    """cuDNN's limit for the head dimension follows its version, not Hopper alone: #185553."""
    cudnn_decode: bool = False
    """cuDNN 9.19 to 9.25.0 takes no query of length 1 on sm_10x: #194927."""
    efficient_offset: bool = False
    """Efficient attention wants the tensors' storage offsets aligned: #184258."""
    shared_heads: bool = False
    """One head of keys and values goes with any number of queries', and efficient attention takes groups: #191085."""
    unbatched: bool = False
    """Three dimensions are taken as four: #192271."""
    flash_grid: bool = False
    """Flash attention takes batches and heads up to 65535."""


_CUDNN: Final[dict[Version, int]] = {
    (2, 11): 91900,
    (2, 12): 92000,
    (2, 13): 92200,
    (2, 14): 92400,
    (2, 15): 92600,
}
_SINCE: Final[dict[str, tuple[Version, Version | None]]] = {
    "cudnn_dropout": ((2, 12), (2, 11)),
    "cudnn_grid": ((2, 13), (2, 12)),
    "cudnn_256": ((2, 14), (2, 13)),
    "cudnn_decode": ((2, 15), (2, 14)),
    "efficient_offset": ((2, 13), None),
    "shared_heads": ((2, 15), (2, 14)),
    "unbatched": ((2, 15), (2, 14)),
    "flash_grid": ((2, 15), (2, 14)),
}
"""Rule → the first torch that surely has it, and the one that may."""


def of(version: Version) -> tuple[Rules, ...]:
    """The likeliest rules of that torch first, then those that it may have instead."""
    known = min(max(version, min(_CUDNN)), max(_CUDNN))
    likely = Rules(_CUDNN[known], **{rule: known >= first for rule, (first, _) in _SINCE.items()})
    return likely, *(likely._replace(**{rule: True}) for rule, (_, unsure) in _SINCE.items() if unsure == known)


def infinity(version: Version) -> float:
    """What cuDNN adds where a mask says no: #177868."""
    return -65504.0 if version < (2, 12) else float("-inf")


def version_of(text: str) -> Version:
    """Of torch.__version__."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
