"""How the choice of an attention kernel on a GPU differs between torch 2.11 and 2.15.

Sources: pull requests that changed aten/src/ATen/native/transformers, whose numbers are given below, and the cuDNN that
torch's CUDA wheels depend on. Which release has a change was checked for 2.15 only, by running its selection; for the
others it follows from the date. If that is close to the day on which a release branch was cut, both cases are tried.
"""

from typing import Final, NamedTuple

Version = tuple[int, int]
"""Major and minor number of a torch release, (2, 13)."""


class Rules(NamedTuple):
    """The rules of one torch release."""

    cudnn: int
    """Version of cuDNN in its CUDA wheel for the newest toolkit, 91900 for 9.19.0; that of 2.13 is a guess."""
    cudnn_dropout: bool = False
    """cuDNN takes only multiples of 1/16 as dropout: #174245."""
    cudnn_grid: bool = False
    """cuDNN takes batches and heads up to 65535: #180718."""
    cudnn_256: bool = False
    """cuDNN's limit for the head dimension follows its version, not Hopper alone: #185553."""
    cudnn_decode: bool = False
    """cuDNN 9.19 to 9.25.0 takes no query of length 1 on sm_10x: #194927."""
    efficient_offset: bool = False
    """Efficient attention wants the tensors' storage offsets aligned: #184258."""
    shared_heads: bool = False
    """A single head of keys and values may serve any number of heads of queries, and efficient attention supports
    enable_gqa: #191085.
    """
    unbatched: bool = False
    """Tensors of three dimensions get a batch of one: #192271."""
    flash_grid: bool = False
    """Flash attention takes batches and heads up to 65535."""


_CUDNN: Final[dict[Version, int]] = {(2, 11): 91900, (2, 12): 92000, (2, 13): 92200, (2, 14): 92400, (2, 15): 92600}
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
"""Rule → the first release that certainly has it, and one that may have it."""


def of(version: Version) -> tuple[Rules, ...]:
    """The likeliest rules of a release, then those that it may have instead."""
    known = min(max(version, min(_CUDNN)), max(_CUDNN))
    likely = Rules(_CUDNN[known], **{rule: known >= first for rule, (first, _) in _SINCE.items()})
    return likely, *(likely._replace(**{rule: True}) for rule, (_, unsure) in _SINCE.items() if unsure == known)


def infinity(version: Version) -> float:
    """What is added for cuDNN where a boolean mask is False: #177868."""
    return -65504.0 if version < (2, 12) else float("-inf")


def version_of(text: str) -> Version:
    """The release that `text`, torch.__version__, belongs to."""
    major, minor = text.split(".")[:2]
    return int(major), int(minor)
