"""Pairs that a matrix product stands between; with `one` the product is given instead, so that both are in one kernel.

Each function is a graph. What the two kernels move more than the one is what the pair is said to be worth.
"""

import sys

import torch
from torch import Tensor

ROWS, WIDTH, WORDS = 64, 32, 5000
IS_ONE = sys.argv[1:] == ["one"]


def product(a: Tensor, k: Tensor, given: Tensor) -> Tensor:
    return given if IS_ONE else a @ k


def gathers(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """The rows of a table that one index chooses, twice."""
    a = table[words] * x
    return a, table[words] * product(a, k, given)


def residual(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """An input that both read."""
    a = torch.relu(x + 1)
    return a, x * product(a, k, given)


def handed(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """What the first writes the second reads, and the product too."""
    a = torch.tanh(x)
    return a, a.exp() * product(a, k, given)


def broadcast(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """A row that both read again and again counts once."""
    a = k[0] * x
    return a, k[0] * product(a, k, given)


def halves(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """Two halves of one tensor have no element in common."""
    a = table[:ROWS] * 2
    return a, table[ROWS : 2 * ROWS] * product(a, k, given)


def overlapping(table: Tensor, words: Tensor, x: Tensor, k: Tensor, given: Tensor) -> tuple[Tensor, ...]:
    """Both an input and what is handed on."""
    a = torch.sigmoid(x) + table[:ROWS]
    return a, a * x - product(a, k, given)


torch.manual_seed(0)
table, words = torch.randn(WORDS, WIDTH), torch.randint(0, WORDS, (ROWS,))
x, k, given = torch.randn(ROWS, WIDTH), torch.randn(WIDTH, WIDTH), torch.randn(ROWS, WIDTH)
for function in (gathers, residual, handed, broadcast, halves, overlapping):
    a, b = torch.compile(function)(table, words, x, k, given)
    print(function.__name__, a.sum().item())
