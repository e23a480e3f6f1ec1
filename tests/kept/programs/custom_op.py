"""An operator of the program's own between compiled ones, with a fake and a gradient."""

import torch


@torch.library.custom_op("kept_program::scaled", mutates_args=())
def scaled(values: torch.Tensor, factor: float) -> torch.Tensor:
    return values * factor


@scaled.register_fake
def _(values: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.empty_like(values)


def _setup(ctx, inputs, output) -> None:
    ctx.factor = inputs[1]


scaled.register_autograd(lambda ctx, grad: (grad * ctx.factor, None), setup_context=_setup)


@torch.compile
def energy(values: torch.Tensor) -> torch.Tensor:
    return torch.tanh(scaled(values.exp(), 0.5)).cumsum(dim=1).sum()


torch.manual_seed(0)
values = torch.randn(6, 10, requires_grad=True)
energy(values).backward()
print(f"{values.grad.norm().item():.4f}")
