"""Which elements of bfloat16 are a number that bfloat16 does not have."""

from typing import Any

import torch
from both_ways import both_ways
from torch import Tensor


def equal(x: Tensor) -> Any:
    return torch.ops.aten.eq(x, 3.14)


both_ways(equal, torch.linspace(3.0, 3.3, 64).to(torch.bfloat16))
