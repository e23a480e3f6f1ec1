"""Look at what was missed: `scores` is normalised along its rows and then added up along its columns, by two kernels.

GELU, scale and softmax are one kernel. The sum over `dim=0` goes over the same values in another order, so that a
second kernel reads them from memory again: `inspect-compile why` says so, and what to change. Where the sum may go
along the rows (`dim=-1`), one kernel does it all.
"""

import torch
from torch import nn
from torch.nn.functional import gelu


class Router(nn.Module):
    def __init__(self, features: int, experts: int) -> None:
        super().__init__()
        self.score = nn.Linear(features, experts)
        self.scale = nn.Parameter(torch.ones(experts))
        self.mix = nn.Linear(experts, features)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = gelu(self.score(x)) * self.scale
        mixed = self.mix(scores.softmax(dim=-1))
        load = scores.sum(dim=0)
        return mixed, load


def main() -> None:
    torch.manual_seed(0)
    model = Router(features=64, experts=512).eval()
    batch = torch.randn(1024, 64)

    compiled = torch.compile(model)
    with torch.no_grad():
        mixed, load = compiled(batch)

    print(f"mixed {list(mixed.shape)}, load {list(load.shape)}, mean {load.mean().item():.3f}")


if __name__ == "__main__":
    main()
