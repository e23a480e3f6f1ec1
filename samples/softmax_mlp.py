"""Look at the softmax: its maximum, subtraction, exponential, sum and division end in one kernel behind the matmuls.

python softmax_mlp.py [--device cuda]
"""

import argparse

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, features: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.up = nn.Linear(features, hidden)
        self.down = nn.Linear(hidden, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.up(x))
        return torch.softmax(self.down(x), dim=-1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    device = parser.parse_args().device

    torch.manual_seed(0)
    model = Classifier(features=64, hidden=256, classes=10).to(device).eval()
    batch = torch.randn(32, 64).to(device)

    compiled = torch.compile(model)
    with torch.no_grad():
        probabilities = compiled(batch)

    print(f"probabilities {list(probabilities.shape)}, first row adds up to {probabilities[0].sum().item():.3f}")


if __name__ == "__main__":
    main()
