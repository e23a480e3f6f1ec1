"""Inputs that are written into at several places; with the argument `mended`, by indices in the place of slices."""

import sys

import torch

IS_MENDED = "mended" in sys.argv


def part(begin, end):
    return torch.arange(begin, end) if IS_MENDED else slice(begin, end)


@torch.compile
def write(places, values, rows, columns, mixed, last, one, indexed, viewed):
    rows[part(4, 6)] = values  # rows
    rows[part(7, 9)] = values * 2
    columns[:, part(4, 6)] = values[0, :2]  # columns
    columns[:, part(7, 9)] = values[1, :2]
    mixed[part(4, 6)] = values  # mixed
    mixed[places] = values
    last[places] = values
    last[part(4, 6)] = values  # last
    one[4:6] = values  # one
    indexed[places] = values  # indexed
    indexed[places + 1] = values
    around = viewed.view(64, 2, -1)
    around[4:6] = values.view(2, 2, -1)  # viewed
    around[7:9] = values.view(2, 2, -1)


write(torch.tensor([20, 30]), torch.randn(2, 128), *(torch.zeros(64, 128) for _ in range(7)))
