"""What torch looks at when it chooses the attention kernel of a GPU, as plain values."""

from typing import Any, Final, NamedTuple

import torch

from inspect_compile.lowering.intervention.cross_compile.attention.rules import Rules

CUDNN: Final = "cudnn"
FLASH: Final = "flash"
EFFICIENT: Final = "efficient"
MATH: Final = "math"

Size = Any
"""int or torch.SymInt."""


class Operand(NamedTuple):
    """What matters of a tensor."""

    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size
    dtype: torch.dtype
    requires_grad: bool
    nested: bool


class Call(NamedTuple):
    """What matters of one call of scaled_dot_product_attention."""

    query: Operand
    key: Operand
    value: Operand
    mask: Operand | None
    dropout: float
    is_causal: bool
    enable_gqa: bool
    grad_mode: bool

    @property
    def needs_grad(self) -> bool:
        """Whether there will be a backward for it."""
        return self.grad_mode and any(operand.requires_grad for operand in self[:3])


class Switches(NamedTuple):
    """What the program has allowed, by torch.backends.cuda.enable_flash_sdp() and its like, or by sdpa_kernel()."""

    enabled: frozenset[str]
    order: tuple[str, ...]
    """The order in which kernels are tried, without the rule that may put cuDNN first."""
    deterministic: bool
    """Whether torch.use_deterministic_algorithms() is on, and not only to warn."""
    cudnn_first: bool
    """Whether that rule may apply: TORCH_CUDNN_SDPA_DEPRIORITIZED does not forbid it, and the order is torch's own."""


class Device(NamedTuple):
    """The GPU that is compiled for."""

    capability: tuple[int, int]
    is_hip: bool


class Question(NamedTuple):
    """A call, and everything else that the choice of its kernel depends on."""

    call: Call
    switches: Switches
    device: Device
    rules: Rules
