"""Something to find in each walk: a missed fusion, a graph break, a recompile."""

import torch
from torch import nn
from torch.nn.functional import gelu


class Router(nn.Module):
    def __init__(self, features, experts):
        super().__init__()
        self.score = nn.Linear(features, experts)
        self.scale = nn.Parameter(torch.ones(experts))
        self.mix = nn.Linear(experts, features)

    def forward(self, x):
        scores = gelu(self.score(x)) * self.scale
        mixed = self.mix(scores.softmax(dim=-1))
        load = scores.sum(dim=0)
        return mixed, load


@torch.compile
def step(batch):
    mixed, load = router(batch)
    print("routed")
    return mixed.square().mean(), load.amax()


torch.manual_seed(0)
router = Router(features=64, experts=512)
with torch.no_grad():
    step(torch.randn(1024, 64))
    step(torch.randn(768, 64))
