"""Rows of one table that are chosen by the same places, and by others."""

import sys

import torch
from torch import Tensor

ROWS, WIDTH, WORDS = 64, 32, 500


def same(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """One index, in two operations of one kernel, one of which reduces."""
    return table[i] * x, (table[i] + x).sum(-1)


def other(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Two indices, each the first that its operation loads."""
    return table[i] * x, (table[j] + x).sum(-1)


def moved(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """One index, and what is computed from it."""
    return table[i] * x, (table[i + 1] + x).sum(-1)


def computed(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The same computation from the same index, twice, beside the index in another order."""
    return table[i + 1] * x + table[j], table[j] - x + table[i + 1]


def nested(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Places that are themselves chosen by places, twice."""
    return table[i[j]] * x, (table[i[j]] + x).sum(-1)


def diagonal(table: Tensor, i: Tensor, j: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """One element of each row, and all of them: the same index but for what it goes with."""
    rows = torch.arange(WIDTH)
    return table[i[:WIDTH], rows] * x[0], (table[i[:WIDTH]] + x[0]).sum(-1)


def main() -> None:
    """Compile and call those that are named."""
    table, x = torch.randn(WORDS, WIDTH), torch.randn(ROWS, WIDTH)
    i, j = torch.randint(0, ROWS, (ROWS,)), torch.randint(0, ROWS, (ROWS,))
    for function in (same, other, moved, computed, nested, diagonal):
        if function.__name__ in sys.argv[1:]:
            torch.compile(function)(table, i, j, x)


main()
