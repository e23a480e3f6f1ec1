"""Which kernel a GPU would take for scaled_dot_product_attention.

Read it against select_sdp_backend in aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, torch 2.11 to 2.15.
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


class Choice(NamedTuple):
    """What is taken, and why not what stands before it."""

    kernel: str | None
    """None: torch raises, for what the program allows fits none of its tensors."""
    refused: tuple[tuple[str, str], ...]
    """(kernel, reason), in the order in which they are tried."""


def choose(call: Call, switches: Switches, device: Device, rules: Rules) -> Choice:
    """The first kernel in the order that nothing speaks against."""
    question = Question(_batched(call) if rules.unbatched else call, switches, device, rules)
    refused: list[tuple[str, str]] = []
    for kernel in _order(question):
        reason = next(filter(None, (check(question) for check in CHECKS[kernel])), None)
        if reason is None:
            return Choice(kernel, tuple(refused))
        refused.append((kernel, reason))
    return Choice(None, tuple(refused))


def _order(question: Question) -> tuple[str, ...]:
    order = question.switches.order
    hopper_or_later = question.device.capability[0] in (9, 10) and not question.device.is_hip
    if question.switches.cudnn_first and hopper_or_later and question.rules.cudnn > 91500:
        return CUDNN, *(kernel for kernel in order if kernel != CUDNN)
    return order


def _batched(call: Call) -> Call:
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
