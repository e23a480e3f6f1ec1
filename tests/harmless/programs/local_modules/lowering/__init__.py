"""A package of the program."""

import torch

NAME = __name__


def lower(x: torch.Tensor) -> torch.Tensor:
    """Compiled by the script."""
    return x - 0.5
