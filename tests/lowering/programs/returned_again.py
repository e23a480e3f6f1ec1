"""Values that later nodes return again, copies that the wrapper makes, results without elements, numbers of the host."""

import torch
from torch import Tensor, nn


class Marked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(8, 16), nn.Linear(16, 16)

    def forward(self, x: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        h = self.one(x)
        h[places] = 0.5
        h = self.other(h)
        h[places] = 1.5
        return h.expand(20, 16), torch.rand_like(x[:0])


def spectrum(x: Tensor) -> Tensor:
    return torch.fft.fftn(x).real


def emptied(x: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    y.data = torch.zeros([0])
    return y, x + 1


def sized(x: Tensor) -> tuple[Tensor, Tensor]:
    rows, columns = x.shape
    return torch.nn.functional.max_pool2d(x[None, None], 3, 2), x.view(rows * columns // 2, 2) * (rows + 1)


def picked(x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
    return x[: count.item()].sum(), torch.full((4,), 2.0) + count.item()


def ordered(x: Tensor) -> Tensor:
    return torch.topk(x, 2)[0] + 1


torch.manual_seed(0)
torch._dynamo.config.capture_scalar_outputs = True
with torch.no_grad():
    torch.compile(Marked())(torch.randn(20, 8), torch.tensor([1, 3]))
torch.compile(spectrum)(torch.randn(4, 32))
torch.compile(emptied)(torch.randn(4))
torch.compile(sized, dynamic=True)(torch.randn(16, 6))
torch.compile(picked)(torch.randn(10), torch.tensor(3))
torch.compile(ordered)(torch.randn(8))
