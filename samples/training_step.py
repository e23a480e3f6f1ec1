"""Look at the two graphs of a training step, forward and backward, and at what the first saves for the second.

The optimizer is compiled too: its graph updates all parameters.
"""

import torch
import torch.nn.functional as F
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    inputs = torch.randn(128, 16)
    targets = inputs.square().sum(dim=-1, keepdim=True).sqrt()

    @torch.compile
    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(model(x), y)

    @torch.compile
    def update() -> None:
        optimizer.step()

    for step in range(5):
        optimizer.zero_grad()
        loss = loss_of(inputs, targets)
        loss.backward()
        update()
        print(f"step {step}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
