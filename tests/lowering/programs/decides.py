"""Graphs about which GraphLowering has something to decide; none of them takes long to build."""

import torch
from torch._higher_order_ops.while_loop import while_loop


@torch.library.custom_op("mine::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def decisions(x: torch.Tensor, image: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    table = torch.tensor([1.0, 2.0, 3.0, 4.0])
    spectrum = torch.view_as_complex(torch.stack([x, x + 1], -1)) * 2
    seen = torch.ops.mine.twice(x) + table
    x.add_(1)
    return torch.view_as_real(spectrum), seen, seen.t(), torch.nn.functional.conv2d(image, weight)


def loop(x: torch.Tensor) -> torch.Tensor:
    return while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, (a * 2).sin()), (torch.tensor(0), x))[1] + 1


@torch.compiler.nested_compile_region
def region(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ x) * 2


def regions(x: torch.Tensor) -> torch.Tensor:
    return region(region(x) + 1).sum()


def reuse(x: torch.Tensor, many: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    gathered = x
    for one in many:
        gathered = gathered + one
    few = x + many[0] + many[1] + many[2] + many[3]
    dear = x.exp()
    return gathered.sum(), few.sum(), few.amax() + few.amin(), dear.sum(), (dear * 2).amax(), torch.cat([x * 3, x.cos()])


def symbolic(x: torch.Tensor) -> torch.Tensor:
    return x.sin().sum(0) + 1


torch.manual_seed(0)
with torch.no_grad():
    torch.compile(decisions)(torch.randn(4, 4), torch.randn(1, 4, 8, 8), torch.randn(8, 4, 3, 3))
    torch.compile(loop)(torch.randn(4))
    torch.compile(regions)(torch.randn(8, 8))
    torch.compile(reuse)(torch.randn(64), [torch.randn(64) for _ in range(14)])
    torch.compile(symbolic, dynamic=True)(torch.randn(8, 9))
    torch.compile(symbolic, mode="reduce-overhead")(torch.randn(3, 9))
