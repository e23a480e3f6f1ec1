"""Steps of Adam in a loop, each with the number of the step read from a tensor."""

import torch
from both_ways import both_ways
from torch import Tensor


def step(parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, count: Tensor) -> None:
    count.add_(1)
    mean.mul_(0.9).add_(gradient, alpha=0.1)
    square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
    number = count.item()
    size = 0.001 / (1 - 0.9**number)
    scale = (square.sqrt() / (1 - 0.999**number) ** 0.5).add_(1e-8)
    parameter.addcdiv_(mean, scale, value=-size)


def steps(parameter: Tensor, gradient: Tensor) -> Tensor:
    parameter = parameter.clone()
    mean, square, count = torch.zeros_like(parameter), torch.zeros_like(parameter), torch.tensor(0.0)
    for _ in range(6):
        step(parameter, gradient, mean, square, count)
    return parameter


torch.manual_seed(0)
both_ways(steps, torch.randn(8), torch.randn(8))
