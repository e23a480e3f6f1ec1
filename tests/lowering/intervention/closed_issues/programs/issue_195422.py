"""An input is changed in place through what `dropout` returns outside of training: the input itself."""

import torch
import torch.nn.functional as F
from both_ways import both_ways
from torch import Tensor


def doubled(x: Tensor) -> Tensor:
    kept = F.dropout(x, 0.5, training=False)
    kept += kept
    return kept


both_ways(doubled, torch.ones(2, 2))
