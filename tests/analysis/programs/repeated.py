"""Loops and layers that are traced again for each round, and some of which there are few; the argument says which."""

import sys

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x):
        for _ in range(7):
            x = (x * self.scale).sin()
            x = x + self.scale.cos()
        return x


class Net(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(count))

    def forward(self, x):
        x = x.exp()
        for layer in self.layers:
            x = layer(x)  # layers
        return x.tanh()


def step(x, state):
    return torch.tanh(x + state).sin() * state.cos()


def unrolled(x):
    state = torch.zeros_like(x[0])
    for one in x:  # unrolled
        state = step(one, state)
    return state.exp()


def straight(x):
    for _ in range(3):
        x = x.sin().cos().tanh().exp()
    return x


PROGRAMS = {
    "layers": (Net(6), torch.randn(4, 8)),
    "few": (Net(2), torch.randn(4, 8)),
    "unrolled": (unrolled, torch.randn(30, 8)),
    "straight": (straight, torch.randn(4, 8)),
}
for name in sys.argv[1:]:
    torch._dynamo.reset()
    function, given = PROGRAMS[name]
    with torch.no_grad():
        torch.compile(function)(given)
