"""Decomposes scaled_dot_product_attention as a GPU would, while AOTAutograd traces on the CPU.

The operator is composite: where it is traced it becomes the operator of one kernel, and on the CPU that is a kernel
which no GPU has. This follows scaled_dot_product_attention in aten/src/ATen/native/transformers/attention.cpp, torch
2.11 to 2.15.
"""

import math
import os
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.lowering.intervention.cross_compile.aten_kernels import override
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
_OPERATOR: Final = aten.scaled_dot_product_attention.default
_KERNELS: Final = {0: MATH, 1: FLASH, 2: EFFICIENT, 3: CUDNN}
"""Number in torch.nn.attention.SDPBackend → kernel."""
_TORCH_ORDER: Final = (FLASH, EFFICIENT, MATH, CUDNN)
_MASK_ALIGNMENT: Final = 8
_HEAD_ALIGNMENT: Final = 8


class AttentionDecision(NamedTuple):
    """The kernel that one call of the operator was decomposed for."""

    op: str
    kernel: str
    reason: str
    """Why torch takes none of the kernels that it tries before this one."""
    certain: bool
    """False if it is a guess; `reason` then says what it depends on."""


_decisions: Final[dict[AttentionDecision, None]] = {}


def taken() -> tuple[AttentionDecision, ...]:
    """The decisions since the last call, each once: AOTAutograd traces a graph several times."""
    decisions = tuple(_decisions)
    _decisions.clear()
    return decisions


def install(capability: tuple[int, int], is_hip: bool) -> None:
    """Trace attention as a GPU of this capability would run it, wherever tensors are, until the process ends."""
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
        asked = _Arguments(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
        if any(isinstance(size, int) and size == 0 for tensor in asked[:3] for size in tensor.shape):
            return _composed(asked)
        kernel = gpu.decided(asked.call())
        unbatched = gpu.rules[0].unbatched and all(tensor.dim() == 3 and not tensor.is_nested for tensor in asked[:3])
        result = gpu.run(asked.batched() if unbatched else asked, kernel)
        return result.squeeze(0) if unbatched else result

    _OPERATOR.py_impl(DISPATCH_KEY.load().CompositeImplicitAutograd)(attention)
    # vmap goes through the C++ dispatcher, which does not look at `py_impl`.
    override([("scaled_dot_product_attention", attention)], "FuncTorchVmapMode")


class _Arguments(NamedTuple):
    """The arguments of one call of the operator."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    dropout: float
    is_causal: bool
    scale: float | None
    enable_gqa: bool

    def call(self) -> Call:
        """What the choice of a kernel depends on."""
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

    def batched(self) -> "_Arguments":
        """The same call with a batch of one, for tensors of three dimensions."""
        query, key, value = (tensor.unsqueeze(0) for tensor in self[:3])
        mask = self.mask
        while mask is not None and mask.dim() < 4:
            mask = mask.unsqueeze(0)
        return self._replace(query=query, key=key, value=value, mask=mask)


class _Gpu:
    """The GPU that is compiled for, and the rules by which this torch chooses its kernel."""

    def __init__(self, device: Device, version: attention_rules.Version) -> None:
        self.device = device
        self.rules = attention_rules.of(version)
        self.infinity = attention_rules.infinity(version)

    def run(self, asked: _Arguments, kernel: str) -> Any:
        """The result of the call by the operator of `kernel`."""
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
        """The kernel for a call, remembered for `taken`. Raises RuntimeError, as torch does, if there is none."""
        set_by_program = switches()
        kernel, refused = choose(call, set_by_program, self.device, self.rules[0])
        reason = ", ".join(f"{other} {why}" for other, why in refused) or "the first in the order"
        if kernel is None:
            raise RuntimeError(f"no kernel of scaled_dot_product_attention that the program allows can do it: {reason}")
        doubt = self._doubt(call, set_by_program, kernel)
        _decisions[AttentionDecision(str(_OPERATOR), kernel, reason + doubt, not doubt)] = None
        return kernel

    def _doubt(self, call: Call, set_by_program: Switches, kernel: str) -> str:
        """Why `kernel` is a guess, to be added to the reason; empty if it is certain."""
        if self.device.is_hip:
            return "; a guess: no ROCm build was checked, and AOTriton is assumed to have kernels for this GPU"
        plain = _plain(call) if len(self.rules) > 1 else call
        for rules in self.rules[1:]:
            other = choose(plain, set_by_program, self.device, rules).kernel
            if other != kernel:
                return f"; a guess: {other or 'none'}, if this torch already has a change of its time"
        return ""


def switches() -> Switches:
    """The kernels that the program allows, by torch.backends.cuda or by an sdpa_kernel() around the call."""
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
    """The call with the hint of each symbolic size in its place, so that looking at sizes adds no guard."""
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


def _composed(asked: _Arguments) -> Any:
    """The result by torch's own decomposition into matmuls and a softmax, with the CPU's kernel switched off."""
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


def _flash(asked: _Arguments) -> Any:
    """The result by flash attention, which wants head dimensions of multiples of eight."""
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
    """A boolean mask as numbers to add: `infinity`, which is negative, where it is False. Others stay as they are."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.where(mask, 0.0, aten.scalar_tensor(infinity, dtype=dtype, device=mask.device))


def _aligned(bias: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> Any:
    """The mask with strides that efficient attention accepts.

    A symbolic stride counts as one that it does not accept, because to look at it would add a guard.
    """
    fits = all(isinstance(stride, int) and stride % _MASK_ALIGNMENT == 0 for stride in bias.stride()[:-1])
    if not fits or bias.stride(-1) != 1:
        length = bias.size(-1)
        bias = aten.pad(bias, [0, _MASK_ALIGNMENT - length % _MASK_ALIGNMENT])
        bias = aten.slice(bias, -1, 0, length)
    return bias.expand(query.size(0), query.size(1), query.size(2), key.size(2))
