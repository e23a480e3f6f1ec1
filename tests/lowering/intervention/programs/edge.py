"""A wrong decomposition beside an element on the edge of a `floor`: `edge.py [right]`."""

import sys

import torch
import torch.nn.functional as F
from torch import Tensor
from torch._inductor.decomposition import decompositions

factor = 1.0 if "right" in sys.argv else 1.1
decompositions[torch.ops.aten.silu.default] = lambda x: x * torch.sigmoid(factor * x)


@torch.compile
def stepped(x: Tensor) -> Tensor:
    return F.silu(x) + torch.floor(x * 0.1 * 10)


torch.manual_seed(0)
x = torch.randn(2000)
x[7] = 3.0
print(stepped(x).shape)
