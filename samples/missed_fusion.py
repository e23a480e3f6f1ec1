"""Look at what was missed: `scores` is transposed before the sigmoid, and a second kernel reads it again.

The normalisation is one kernel, GELU and scale another. The sigmoid goes over what that one writes in another order,
along the columns: `inspect-compile why` says so, and what to change. With `torch.sigmoid(scores).t()` the values are
the same, and one kernel computes both.
"""

import torch
from torch import nn
from torch.nn.functional import gelu


class Router(nn.Module):
    def __init__(self, features: int, experts: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.score = nn.Linear(features, experts)
        self.scale = nn.Parameter(torch.ones(experts))
        self.mix = nn.Linear(experts, features)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = gelu(self.score(self.norm(x))) * self.scale
        mixed = self.mix(scores)
        by_expert = torch.sigmoid(scores.t()).contiguous()
        return mixed, by_expert


def main() -> None:
    torch.manual_seed(0)
    model = Router(features=64, experts=512).eval()
    batch = torch.randn(1024, 64)

    compiled = torch.compile(model)
    with torch.no_grad():
        for _ in range(20):
            mixed, by_expert = compiled(batch)

    print(f"mixed {list(mixed.shape)}, by expert {list(by_expert.shape)}, mean {by_expert.mean().item():.3f}")


if __name__ == "__main__":
    main()
