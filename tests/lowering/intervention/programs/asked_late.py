"""A training step with an embedding, whose gradient is added to in place; prints which values of the reference are
asked for after they were let go.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from inspect_compile.lowering.intervention.numerics.graphs.on_demand import OnDemand

again = OnDemand._again


def told(run: OnDemand, name: str) -> Tensor:
    print(name)
    found: Tensor = again(run, name)
    return found


OnDemand._again = told  # type: ignore[method-assign, assignment]


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(64, 32)
        self.inner = nn.Linear(32, 32)

    def forward(self, x: Tensor) -> Tensor:
        found = self.words(x)
        found = found + F.gelu(self.inner(F.layer_norm(found, (32,))))
        return F.cross_entropy((found @ self.words.weight.t()).flatten(0, 1), x.flatten())


torch.manual_seed(0)
torch.compile(Words())(torch.randint(0, 64, (4, 16))).backward()
