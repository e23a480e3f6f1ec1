"""What is asked when a GPU chooses its attention kernel, as plain values."""

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
    """What is asked of a tensor."""

    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size
    dtype: torch.dtype
    requires_grad: bool
    nested: bool


class Call(NamedTuple):
    """One call of scaled_dot_product_attention."""

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
        return self.grad_mode and any(operand.requires_grad for operand in self[:3])


class Switches(NamedTuple):
    """What the program set: torch.backends.cuda.enable_flash_sdp() and its like, sdpa_kernel()."""

    enabled: frozenset[str]
    order: tuple[str, ...]
    """In which to try, without cuDNN's own rise to the first place."""
    deterministic: bool
    """torch.use_deterministic_algorithms(), not only to warn."""
    cudnn_first: bool
    """Not forbidden by TORCH_CUDNN_SDPA_DEPRIORITIZED, and the order is torch's own."""


class Device(NamedTuple):
    """The GPU."""

    capability: tuple[int, int]
    is_hip: bool


class Question(NamedTuple):
    """A call, and all that the answer hangs on."""

    call: Call
    switches: Switches
    device: Device
    rules: Rules
