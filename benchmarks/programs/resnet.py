"""A residual convolutional net with random weights: `resnet.py BLOCKS inference|training DEVICE`."""

import sys

import torch
from measured import measure
from torch import nn


class Block(nn.Module):
    """Two convolutions beside the identity."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.convolutions(x))


blocks, trains, device = int(sys.argv[1]), sys.argv[2] == "training", sys.argv[3]
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 32, 3), *(Block(32) for _ in range(blocks)), nn.Flatten(), nn.LazyLinear(10))
image = torch.randn(2, 3, 32, 32, device=device)
model.to(device)(image)
measure(model.train(trains), image, trains=trains)
