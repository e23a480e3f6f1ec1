"""A net of the package."""

import torch


class Net(torch.nn.Module):
    """Adds and multiplies."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Compiled."""
        return (x + 1) * x
