"""A list grows while it is read."""

from collections.abc import Iterator

import torch
from both_ways import both_ways
from torch import Tensor


def grown(x: Tensor) -> Tensor:
    values = [x.sum()]

    def read() -> Iterator[Tensor]:
        for one in values:
            if len(values) < 3:
                values.append(one + 1)
            yield one

    return torch.stack(list(read())).sum()


both_ways(grown, torch.ones(1))
