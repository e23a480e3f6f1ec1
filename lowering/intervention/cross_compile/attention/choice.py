"""Which kernel torch would choose on a GPU for a call of scaled_dot_product_attention.

This follows select_sdp_backend in aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, torch 2.11 to 2.15.
"""

from typing import NamedTuple

from inspect_compile.lowering.intervention.cross_compile.attention.call import (
    CUDNN,
    Call,
    Device,
    Operand,
    Question,
    Switches,
)
from inspect_compile.lowering.intervention.cross_compile.attention.checks import CHECKS
from inspect_compile.lowering.intervention.cross_compile.attention.rules import Rules


class KernelChoice(NamedTuple):
    """The kernel that torch chooses, and why none of those that it tries first."""

    kernel: str | None
    """None if none of the kernels that the program allows can be used: torch then raises."""
    refused: tuple[tuple[str, str], ...]
    """(kernel, why it cannot be used) for those tried before, in torch's order."""


def choose(call: Call, switches: Switches, device: Device, rules: Rules) -> KernelChoice:
    """The first kernel in torch's order of which no check fails."""
    question = Question(_batched(call) if rules.unbatched else call, switches, device, rules)
    refused: list[tuple[str, str]] = []
    for kernel in _order(question):
        reason = next(filter(None, (check(question) for check in CHECKS[kernel])), None)
        if reason is None:
            return KernelChoice(kernel, tuple(refused))
        refused.append((kernel, reason))
    return KernelChoice(None, tuple(refused))


def _order(question: Question) -> tuple[str, ...]:
    """The order in which torch tries the kernels: on Hopper and Blackwell a recent cuDNN comes first."""
    order = question.switches.order
    hopper_or_later = question.device.capability[0] in (9, 10) and not question.device.is_hip
    if question.switches.cudnn_first and hopper_or_later and question.rules.cudnn > 91500:
        return CUDNN, *(kernel for kernel in order if kernel != CUDNN)
    return order


def _batched(call: Call) -> Call:
    """A call with three dimensions as one with a batch of one; any other as it is."""
    if any(len(operand.sizes) != 3 or operand.nested for operand in call[:3]):
        return call
    mask = call.mask
    while mask is not None and len(mask.sizes) < 4:
        mask = _unsqueezed(mask)
    query, key, value = (_unsqueezed(operand) for operand in call[:3])
    return call._replace(query=query, key=key, value=value, mask=mask)


def _unsqueezed(operand: Operand) -> Operand:
    first = operand.sizes[0] * operand.strides[0] if operand.sizes else 1
    return operand._replace(sizes=(1, *operand.sizes), strides=(first, *operand.strides))
