"""Takes scaled_dot_product_attention apart as a GPU would, while AOTAutograd traces on the CPU.

Read it against scaled_dot_product_attention in aten/src/ATen/native/transformers/attention.cpp, torch 2.11 to 2.15.
The operator has no kernel of its own: on the CPU it becomes an operator that no GPU has.
"""

import math
import os
import warnings
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.lowering.intervention.cross_compile.attention import rules as attention_rules
from inspect_compile.lowering.intervention.cross_compile.attention.call import (
    CUDNN,
    EFFICIENT,
    FLASH,
    MATH,
    Call,
    Device,
    Operand,
    Switches,
)
from inspect_compile.lowering.intervention.cross_compile.attention.choice import choose
from inspect_compile.torch_compat import by_device as names
from inspect_compile.torch_compat.compilers import DISPATCH_KEY

aten: Final = torch.ops.aten
cuda: Final[Any] = torch.backends.cuda
library: Final[Any] = torch.library
_LIBRARY: Final = library.Library("aten", "IMPL")
_OPERATOR: Final = aten.scaled_dot_product_attention.default
_KERNELS: Final = {0: MATH, 1: FLASH, 2: EFFICIENT, 3: CUDNN}
"""torch.nn.attention.SDPBackend."""
_TORCH_ORDER: Final = (FLASH, EFFICIENT, MATH, CUDNN)
_MASK_ALIGNMENT: Final = 8
_HEAD_ALIGNMENT: Final = 8


class Decision(NamedTuple):
    """What one call became."""

    op: str
    kernel: str
    reason: str
    """Why none that stands before it in the order."""
    certain: bool
    """Else it is a guess, and the reason says of what."""


_decisions: Final[dict[Decision, None]] = {}


def taken() -> tuple[Decision, ...]:
    """What was decided since the last time, each once: AOTAutograd traces a graph several times."""
    decisions = tuple(_decisions)
    _decisions.clear()
    return decisions


def install(capability: tuple[int, int], is_hip: bool) -> None:
    """From now on this process traces attention as that GPU would run it, whatever device its tensors are on."""
    gpu = _Gpu(Device(capability, is_hip), attention_rules.version_of(torch.__version__))

    def attention(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Any:
        asked = _Asked(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        if any(isinstance(size, int) and size == 0 for tensor in asked[:3] for size in tensor.shape):
            return _composed(asked)
        kernel = gpu.decided(asked.call())
        unbatched = gpu.rules[0].unbatched and all(tensor.dim() == 3 and not tensor.is_nested for tensor in asked[:3])
        result = gpu.run(asked.batched() if unbatched else asked, kernel)
        return result.squeeze(0) if unbatched else result

    _OPERATOR.py_impl(DISPATCH_KEY.load().CompositeImplicitAutograd)(attention)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?s).*Overriding a previously registered kernel")
        # vmap asks torch's own dispatcher, never Python's.
        _LIBRARY.impl("scaled_dot_product_attention", attention, "FuncTorchVmapMode", allow_override=True)


class _Asked(NamedTuple):
    """The arguments of one call."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    dropout: float
    is_causal: bool
    scale: float | None
    enable_gqa: bool

    def call(self) -> Call:
        return Call(
            query=_operand(self.query),
            key=_operand(self.key),
            value=_operand(self.value),
            mask=None if self.mask is None else _operand(self.mask),
            dropout=self.dropout,
            is_causal=self.is_causal,
            enable_gqa=self.enable_gqa,
            grad_mode=torch.is_grad_enabled(),
        )

    def batched(self) -> "_Asked":
        query, key, value = (tensor.unsqueeze(0) for tensor in self[:3])
        mask = self.mask
        while mask is not None and mask.dim() < 4:
            mask = mask.unsqueeze(0)
        return self._replace(query=query, key=key, value=value, mask=mask)


class _Gpu:
    """What this process stands for."""

    def __init__(self, device: Device, version: attention_rules.Version) -> None:
        self.device = device
        self.rules = attention_rules.of(version)
        self.infinity = attention_rules.infinity(version)

    def run(self, asked: _Asked, kernel: str) -> Any:
        """`asked`, with that kernel."""
        query, key, value, mask, dropout, is_causal, scale, _ = asked
        needs = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, value))
        if kernel == FLASH:
            return _flash(asked)
        if kernel == CUDNN:
            bias = _additive(mask, query.dtype, self.infinity)
            given = (query, key, value, bias, needs, dropout, is_causal, False)
            return aten._scaled_dot_product_cudnn_attention(*given, scale=scale)[0]
        if kernel == EFFICIENT:
            bias = _additive(mask, query.dtype, -math.inf)
            needs = needs or (self.rules[0].shared_heads and bias is not None and bias.requires_grad)
            bias = None if bias is None else _aligned(bias, query, key)
            return aten._scaled_dot_product_efficient_attention(
                query, key, value, bias, needs, dropout, is_causal, scale=scale
            )[0]
        return _composed(asked)

    def decided(self, call: Call) -> str:
        """The kernel, noted down. Raises where torch would: the program allows none that could do it."""
        set_by_program = switches()
        kernel, refused = choose(call, set_by_program, self.device, self.rules[0])
        reason = ", ".join(f"{other} {why}" for other, why in refused) or "the first in the order"
        if kernel is None:
            raise RuntimeError(f"no kernel of scaled_dot_product_attention that the program allows can do it: {reason}")
        doubt = self._doubt(call, set_by_program, kernel)
        _decisions[Decision(str(_OPERATOR), kernel, reason + doubt, not doubt)] = None
        return kernel

    def _doubt(self, call: Call, set_by_program: Switches, kernel: str) -> str:
        """Why that is a guess, or nothing."""
        if self.device.is_hip:
            return "; a guess: no ROCm build was looked at, and AOTriton is taken to have kernels for this GPU"
        plain = _plain(call) if len(self.rules) > 1 else call
        for rules in self.rules[1:]:
            other = choose(plain, set_by_program, self.device, rules).kernel
            if other != kernel:
                return f"; a guess: {other or 'none'}, if this torch already has a change of its time"
        return ""


def switches() -> Switches:
    """As the program, or the sdpa_kernel around the call, has set them."""
    enabled = {
        FLASH: cuda.flash_sdp_enabled(),
        EFFICIENT: cuda.mem_efficient_sdp_enabled(),
        MATH: cuda.math_sdp_enabled(),
        CUDNN: cuda.cudnn_sdp_enabled(),
    }
    order = tuple(_KERNELS[number] for number in torch_object(names.PRIORITY)() if number in _KERNELS)
    return Switches(
        enabled=frozenset(kernel for kernel, on in enabled.items() if on),
        order=order,
        deterministic=torch.are_deterministic_algorithms_enabled()
        and not torch.is_deterministic_algorithms_warn_only_enabled(),
        cudnn_first=order == _TORCH_ORDER and os.environ.get("TORCH_CUDNN_SDPA_DEPRIORITIZED") != "1",
    )


def _plain(call: Call) -> Call:
    """With each unknown size as it is in the example, so that asking adds no guard."""
    return call._replace(
        query=_hinted(call.query),
        key=_hinted(call.key),
        value=_hinted(call.value),
        mask=None if call.mask is None else _hinted(call.mask),
    )


def _hinted(operand: Operand) -> Operand:
    def hint(size: Any) -> Any:
        return size if isinstance(size, int) else size.node.hint

    return operand._replace(
        sizes=tuple(map(hint, operand.sizes)), strides=tuple(map(hint, operand.strides)), offset=hint(operand.offset)
    )


def _operand(tensor: torch.Tensor) -> Operand:
    nested = tensor.is_nested
    return Operand(
        sizes=() if nested else tuple(tensor.size()),
        strides=() if nested else tuple(tensor.stride()),
        offset=0 if nested else tensor.storage_offset(),
        dtype=tensor.dtype,
        requires_grad=tensor.requires_grad,
        nested=nested,
    )


def _composed(asked: _Asked) -> Any:
    """By the operator's own code, from which a CPU has no way to a kernel of its own."""
    flash, by_math = cuda.flash_sdp_enabled(), cuda.math_sdp_enabled()
    cuda.enable_flash_sdp(False)
    cuda.enable_math_sdp(True)
    try:
        *given, scale, enable_gqa = asked
        composite = DISPATCH_KEY.load().CompositeImplicitAutograd
        return _OPERATOR._op_dk(composite, *given, scale=scale, enable_gqa=enable_gqa)
    finally:
        cuda.enable_flash_sdp(flash)
        cuda.enable_math_sdp(by_math)


def _flash(asked: _Asked) -> Any:
    head = asked.query.size(-1)
    padded = [_padded(tensor, _HEAD_ALIGNMENT) for tensor in asked[:3]]
    # The scale is that of the head dimension before it was padded.
    scale = asked.scale if asked.scale is not None else 1.0 / math.sqrt(head)
    given = (*padded, asked.dropout, asked.is_causal, False)
    result = aten._scaled_dot_product_flash_attention(*given, scale=scale)[0]
    return result if result.size(-1) == head else aten.slice(result, -1, 0, head)


def _padded(tensor: Any, alignment: int) -> Any:
    over = tensor.size(-1) % alignment
    return tensor if over == 0 else aten.pad(tensor, [0, alignment - over])


def _additive(mask: torch.Tensor | None, dtype: torch.dtype, infinity: float) -> Any:
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.where(mask, 0.0, aten.scalar_tensor(infinity, dtype=dtype, device=mask.device))


def _aligned(bias: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> Any:
    """As efficient attention wants it. An unknown stride is taken for one that does not fit, which needs no guard."""
    fits = all(isinstance(stride, int) and stride % _MASK_ALIGNMENT == 0 for stride in bias.stride()[:-1])
    if not fits or bias.stride(-1) != 1:
        length = bias.size(-1)
        bias = aten.pad(bias, [0, _MASK_ALIGNMENT - length % _MASK_ALIGNMENT])
        bias = aten.slice(bias, -1, 0, length)
    return bias.expand(query.size(0), query.size(1), query.size(2), key.size(2))
