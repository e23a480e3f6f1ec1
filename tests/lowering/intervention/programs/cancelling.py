"""Sums and means of values that cancel: what is left of them is far smaller than what was added up."""

import torch

ROWS, LENGTH, LONG = 32, 2048, 32768
torch.manual_seed(0)


def joined(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The product needs the rows in memory: the norm's launch is given what only moves values."""
    rows = torch.cat([x[:, ::2], x[:, 1::2]], -1)
    return torch.nn.functional.layer_norm(rows, rows.shape[-1:]), rows @ weight


def moments(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.var_mean(x, -1)


def normed(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, x.shape[-1:])


small = torch.randn(ROWS, LENGTH) * 0.02
torch.compile(joined)(small - small.double().mean(-1, keepdim=True).float(), torch.randn(LENGTH, 3))
half = torch.randint(-3, 4, (ROWS, LENGTH // 2)).float()
torch.compile(moments)(torch.cat([half, -half], 1)[:, torch.randperm(LENGTH)])
given = torch.randn(4, LONG, requires_grad=True)
result = torch.compile(normed)(given)
result.backward(torch.ones_like(result))  # type: ignore[no-untyped-call]
