"""Look at the copies around the convolution: channels last for image and weight on the way in, and back on the way out.

The convolution with its bias is a library call: 3×3, 10 channels, an image of 10×90×80, 12,355,200 FLOP (two for each
multiplication with its addition).
"""

import torch
from torch import nn


class Edges(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(10, 10, kernel_size=3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.conv(image)


def main() -> None:
    torch.manual_seed(0)
    model = Edges()
    image = torch.randn(10, 90, 80)

    compiled = torch.compile(model)
    edges = compiled(image)

    print(f"edges {list(edges.shape)}, mean {edges.mean().item():.3f}")


if __name__ == "__main__":
    main()
