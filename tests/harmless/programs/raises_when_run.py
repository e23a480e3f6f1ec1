"""An exception of the program's own, out of a function that was compiled in parts."""

import torch


@torch.compile
def judged(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    if y.sum() > 0:
        raise ValueError("the program's own")
    return y


judged(torch.ones(3))
