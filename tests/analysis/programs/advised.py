"""Functions with something that a finding advises to change, or that nobody can; with the argument `mended`, changed so.

The lines that a test looks for have a comment.
"""

import functools
import sys

import torch
from torch import nn

IS_MENDED = "mended" in sys.argv
torch.manual_seed(0)
weight = torch.randn(64, 64)
twice = torch.cat([weight, weight])
broad = twice.repeat(1, 8)
conv = nn.Conv2d(6, 6, 3)
along = nn.Conv1d(6, 6, 3)
raised = nn.ConvTranspose2d(6, 6, 4, 2, 1)
image = torch.randn(2, 6, 32, 32)
last = nn.Conv2d(12, 6, 3).to(memory_format=torch.channels_last)
gates, new = (nn.Conv2d(12, 6, 3, padding=1).to(memory_format=torch.channels_last) for _ in range(2))
parameter = nn.Parameter(torch.randn(64, 64))
parameter.grad = torch.ones(64, 64)
optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
if IS_MENDED:
    raised = raised.to(memory_format=torch.channels_last)
    conv, image = conv.to(memory_format=torch.channels_last), image.to(memory_format=torch.channels_last)


@torch.compile
def turned(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    z = torch.relu(x)
    one = ((z if IS_MENDED else z.t()) + y) @ weight  # turned
    return one, torch.sigmoid(x) @ weight


@torch.compile
def joined(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    one = torch.sigmoid(x).sum(1)
    return one, torch.cat([x, y], dim=1) @ twice  # joined


@torch.compile
def convolved(x: torch.Tensor) -> torch.Tensor:
    return conv(x).relu()  # in another layout


@torch.compile
def along_a_line(x: torch.Tensor) -> torch.Tensor:
    return along(x if IS_MENDED else x.transpose(1, 2)).relu()  # turned for a line


@torch.compile
def padded(x: torch.Tensor) -> torch.Tensor:
    return along(nn.functional.pad(x, (4, 4), mode="reflect")).relu()  # padded


@torch.compile
def patched(x: torch.Tensor) -> torch.Tensor:
    return (x if IS_MENDED else patches(x)) @ weight


def patches(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(4, 8, 8, 8, 8).permute(0, 1, 3, 2, 4).reshape(256, 64)  # another order of an input


@torch.compile
def filled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    both = x.new_empty(128, 64)  # only written over
    both[:64] = torch.sigmoid(x)
    both[64:] = torch.relu(y)
    return both @ weight


@torch.compile
def appended(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, torch.sigmoid(y)]) @ weight  # a part is computed


@torch.compile
def wide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    made = x @ weight
    if IS_MENDED:
        return torch.relu(made @ broad[:64] + torch.sigmoid(y) @ broad[64:])
    return torch.relu(torch.cat([made, torch.sigmoid(y)], 1) @ broad)  # a layer of each costs more


@torch.compile
def trained(x: torch.Tensor) -> torch.Tensor:
    return raised(torch.relu(conv(x)))  # with a gradient in another layout


@torch.compile
def scattered(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    x = x * 2
    x[rows] = x[rows].flip(1)  # turned around
    return x @ weight


@torch.compile
def cumulated(x: torch.Tensor) -> torch.Tensor:
    decay = torch.tanh(x @ weight).cumsum(dim=1)  # turned around by autograd
    return torch.exp(decay) * ((x @ weight) * torch.exp(-decay)).cumsum(dim=1)


@torch.compile
def joined_for(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return last(torch.cat([torch.sigmoid(x) * y, y], 1))  # joined for a convolution


@torch.compile
def gated(x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    x, h = torch.relu(x), torch.tanh(h)
    gate = torch.sigmoid(gates(torch.cat([x, h], 1)))
    if IS_MENDED:
        parts = new.weight.split(6, 1)
        convolved_by = functools.partial(nn.functional.conv2d, padding=1)
        return torch.tanh(convolved_by(x, parts[0], new.bias) + convolved_by(gate * h, parts[1]))
    return torch.tanh(new(torch.cat([x, gate * h], 1)))  # joined again


@torch.compile
def summed(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.einsum("bihd,bjhd->bhij", torch.relu(x), y)  # batch axes inside


@torch.compile
def stepped() -> None:
    optimizer.step()


with torch.no_grad():
    x, y = torch.randn(64, 64), torch.randn(64, 64)
    turned(x, y)
    joined(x, y)
    convolved(image)
    along_a_line(torch.randn(2, 6, 512) if IS_MENDED else torch.randn(2, 512, 6))
    padded(torch.randn(2, 6, 512))
    ready = torch.randn(4, 64, 64)
    patched(patches(ready) if IS_MENDED else ready)
    filled(x, y)
    appended(x, y)
    joined_for(image, torch.randn(2, 6, 32, 32))
    gated(*(torch.randn(2, 6, 32, 32).to(memory_format=torch.channels_last) for _ in range(2)))
    summed(torch.randn(4, 16, 4, 16), torch.randn(4, 16, 4, 16))
    wide(x, y)
    scattered(x, torch.arange(64) > 20)
if IS_MENDED:
    optimizer.step()
for _ in range(3):
    stepped()
cumulated(torch.randn(16, 32, 64, requires_grad=True)).sum().backward()
found = trained(image)
found.backward(torch.ones_like(found) if IS_MENDED else torch.ones(found.shape))
