"""The conditions under which each attention kernel cannot be used for a call.

They are those of aten/src/ATen/native/transformers/cuda/sdp_utils.cpp and ../sdp_utils_cpp.h, torch 2.11 to 2.15, in
the same order, because each look at a symbolic size becomes a guard. `rules.py` says where versions differ. Two things
are simpler here: every kernel refuses nested tensors, and FlashAttention 3 and Composable Kernel, which a program must
ask for, are left out.
"""

from collections.abc import Callable
from typing import Any, Final

import torch

from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.lowering.intervention.cross_compile.attention.call import (
    CUDNN,
    EFFICIENT,
    FLASH,
    MATH,
    Question,
    Size,
)
from inspect_compile.torch_compat import by_device as names

_GRID: Final = 65535
"""The maximum length of a CUDA grid in its second and third dimension."""

Check = Callable[[Question], str | None]
"""(question) → why the kernel cannot be used, as the end of a sentence "flash …"; None if it can."""


def _true(fact: bool | torch.SymBool) -> bool:
    """Whether a condition holds; False if it depends on a size that is not known before the program runs."""
    return fact if isinstance(fact, bool) else bool(torch_object(names.GUARD_OR_FALSE)(fact))


def _enabled(kernel: str) -> Check:
    return lambda asked: None if kernel in asked.switches.enabled else "is switched off"


def _dense(asked: Question) -> str | None:
    return "nested tensors" if any(operand.nested for operand in asked.call[:3]) else None


def _four_dimensions(asked: Question) -> str | None:
    dims = [len(operand.sizes) for operand in asked.call[:3]]
    return None if dims == [4, 4, 4] else f"takes 4 dimensions, not {_distinct(dims)}"


def _no_mask(asked: Question) -> str | None:
    return "takes no mask" if asked.call.mask is not None else None


def _mask_shape(asked: Question) -> str | None:
    call, mask = asked.call, asked.call.mask
    if mask is None:
        return None
    if mask.requires_grad:
        return "takes no mask that requires a gradient"
    wanted = (call.query.sizes[0], call.query.sizes[1], call.query.sizes[2], call.key.sizes[2])
    # The last dimensions first, in the order in which torch looks at them.
    fits = all(_goes_with(mask.sizes[at], wanted[at]) for at in (-2, -1) if len(mask.sizes) >= 2)
    if fits and len(mask.sizes) == 4:
        fits = all(_goes_with(mask.sizes[at], wanted[at]) for at in (0, 1))
    if fits and len(mask.sizes) in (2, 4):
        return None
    return f"a mask of shape {_shape(mask.sizes)} does not fit {_shape(wanted)}"


def _goes_with(size: Size, wanted: Size) -> bool:
    """Whether a mask's dimension can be expanded to the wanted one."""
    return _true(size == wanted) or (isinstance(size, int) and size == 1)


def _dtype(asked: Question, allowed: tuple[torch.dtype, ...]) -> str | None:
    found = [operand.dtype for operand in asked.call[:3]]
    if len(set(found)) == 1 and found[0] in allowed:
        return None
    return f"takes {' or '.join(map(_short, allowed))}, not {_distinct(map(_short, found))}"


def _half(asked: Question) -> str | None:
    newer = asked.device.capability[0] >= 8
    return _dtype(asked, (torch.float16, torch.bfloat16) if newer else (torch.float16,))


def _up_to_single(asked: Question) -> str | None:
    newer = asked.device.capability[0] >= 8 or asked.device.is_hip
    return _dtype(asked, (torch.float16, torch.float32, *((torch.bfloat16,) if newer else ())))


def _hardware(first: tuple[int, int]) -> Check:
    def check(asked: Question) -> str | None:
        if asked.device.is_hip or first <= asked.device.capability <= (12, 1):
            return None
        return f"runs on sm_{first[0]}{first[1]} to sm_121"

    return check


def _flash_head(asked: Question) -> str | None:
    query, key, value = (operand.sizes[-1] for operand in asked.call[:3])
    most = 512 if asked.device.is_hip else 256
    if _true(query == key) and _true(query == value) and _true(query <= most):
        return None
    return f"takes equal head dimensions up to {most}, not {_distinct((query, key, value))}"


def _flash_gradient(asked: Question) -> str | None:
    capability = asked.device.capability
    small = (8, 6) <= capability <= (8, 9) or (12, 0) <= capability <= (12, 1)
    if not asked.call.needs_grad or not small or asked.device.is_hip:
        return None
    head = asked.call.query.sizes[-1]
    if _true(head <= 192) or (asked.call.dropout == 0.0 and _true(head > 224)):
        return None
    return f"has no backward for a head dimension of {head} on this GPU"


def _flash_causal(asked: Question) -> str | None:
    query, key = asked.call.query.sizes[-2], asked.call.key.sizes[-2]
    if not asked.call.is_causal or _true(query == key):
        return None
    return f"takes is_causal with equal lengths only, not {query} and {key}"


def _flash_grid(asked: Question) -> str | None:
    return _grid(asked) if asked.rules.flash_grid else None


def _grid(asked: Question) -> str | None:
    batch, heads = asked.call.query.sizes[:2]
    if _true(batch <= _GRID) and _true(heads <= _GRID):
        return None
    return f"takes a batch and heads up to {_GRID}, not {batch} and {heads}"


def _alignment(asked: Question) -> int:
    """What head dimensions must be multiples of, in elements: torch's minimum_gemm_alignment."""
    half = asked.call.query.dtype in (torch.float16, torch.bfloat16)
    if asked.device.capability[0] >= 8:
        return 8 if half else 4
    return 8 if half and asked.device.capability[0] >= 7 else 1


def _efficient_head(asked: Question) -> str | None:
    query, key, value = (operand.sizes[-1] for operand in asked.call[:3])
    step = _alignment(asked)
    fits = _true(query == key) and all(_true(size % step == 0) and _true(size > 0) for size in (query, value))
    if fits and asked.device.is_hip:
        fits = _true(query == value) and _true(query <= 512)
    return None if fits else f"takes head dimensions of multiples of {step}, not {_distinct((query, key, value))}"


def _efficient_offset(asked: Question) -> str | None:
    if not asked.rules.efficient_offset or asked.device.is_hip or asked.device.capability[0] < 8:
        return None
    step = _alignment(asked)
    for operand in asked.call[:3]:
        # A symbolic offset counts as aligned, as in torch: the kernel checks it again when it runs.
        empty = any(isinstance(size, int) and size == 0 for size in operand.sizes)
        if not empty and isinstance(operand.offset, int) and operand.offset % step:
            return f"a tensor begins at element {operand.offset}, not a multiple of {step}"
    return None


def _length(asked: Question) -> str | None:
    lengths = asked.call.query.sizes[-2], asked.call.key.sizes[-2]
    return None if all(_true(length != 0) for length in lengths) else "takes no length of 0"


def _last_stride(singleton: bool) -> Check:
    """A check that head dimensions are contiguous; with `singleton` the stride of one of length 1 does not matter."""

    def check(asked: Question) -> str | None:
        call = asked.call
        fits = all(_true(operand.strides[-1] == 1) for operand in call[:3])
        if not fits and not (singleton and _true(call.query.sizes[-1] == 1)):
            return f"takes head dimensions of stride 1, not {_distinct(operand.strides[-1] for operand in call[:3])}"
        if call.mask is not None and call.mask.strides and not _true(call.mask.strides[-1] == 1):
            return f"takes a mask whose last dimension has stride 1, not {call.mask.strides[-1]}"
        return None

    return check


def _heads(groups: Callable[[Question], bool] = lambda asked: True, *, same: bool = True) -> Check:
    """A check of batches and heads: `groups` says whether the kernel supports enable_gqa; with `same`, keys and values
    must have equally many heads.
    """

    def check(asked: Question) -> str | None:
        batches = [operand.sizes[0] for operand in asked.call[:3]]
        if not (_true(batches[0] == batches[1]) and _true(batches[0] == batches[2])):
            return f"takes equal batches, not {_distinct(batches)}"
        query, key, value = (operand.sizes[-3] for operand in asked.call[:3])
        if asked.call.enable_gqa and groups(asked):
            if same and not _true(key == value):
                return f"takes as many heads of keys as of values, not {key} and {value}"
            for heads in (key,) if same else (key, value):
                if not _true(heads > 0) or not _true(query % heads == 0):
                    return f"{heads} heads do not divide {query}"
            return None
        if _true(query == key) and _true(query == value):
            return None
        shared = asked.rules.shared_heads and not asked.device.is_hip
        if shared and _true(query > 0) and _true(key == 1) and _true(value == 1):
            return None
        return f"takes equal numbers of heads here, not {_distinct((query, key, value))}"

    return check


def _cudnn_there(asked: Question) -> str | None:
    return "is not in a ROCm build" if asked.device.is_hip else None


def _cudnn_deterministic(asked: Question) -> str | None:
    return "is not deterministic" if asked.switches.deterministic else None


def _cudnn_dropout(asked: Question) -> str | None:
    sixteenths = asked.call.dropout * 16
    if not asked.rules.cudnn_dropout or sixteenths == int(sixteenths):
        return None
    return f"takes dropout in sixteenths, not {asked.call.dropout}"


def _cudnn_shape(asked: Question) -> str | None:
    call, rules, major = asked.call, asked.rules, asked.device.capability[0]
    if rules.cudnn_grid and (reason := _grid(asked)):
        return reason
    query, key, head, value = call.query.sizes[2], call.key.sizes[2], call.query.sizes[3], call.value.sizes[3]
    if rules.cudnn_decode and 91900 <= rules.cudnn <= 92500 and major in (10, 11) and _true(query == 1):
        return "takes no query of length 1 on this GPU"
    most = _cudnn_head(asked)
    if not (_true(head <= most) and _true(value <= most)):
        return f"takes head dimensions up to {most}, not {_distinct((head, value))}"
    if not (_true(head % 8 == 0) and _true(value % 8 == 0)):
        return f"takes head dimensions of multiples of 8, not {_distinct((head, value))}"
    if not _true(key != 1):
        return "takes no keys of length 1"
    if call.dropout != 0.0 and not _true(query != 1):
        return "takes no query of length 1 with dropout"
    if rules.cudnn_256 and most == 256 and call.needs_grad and not _cudnn_backward(head, value):
        return f"has no backward for head dimensions of {head} and {value}"
    return None


def _cudnn_head(asked: Question) -> int:
    """The largest head dimension that cuDNN takes on this GPU."""
    cudnn, (major, minor) = asked.rules.cudnn, asked.device.capability
    head, value = asked.call.query.sizes[3], asked.call.value.sizes[3]
    hopper, blackwell = (major, minor) == (9, 0), major == 10
    if asked.rules.cudnn_256:
        if (hopper or blackwell) and cudnn > 92200:
            return 256
    elif hopper and cudnn >= 91000:
        return 256
    special = blackwell or (hopper and asked.rules.cudnn_256)
    return 192 if special and cudnn >= 91100 and _true(head == 192) and _true(value == 128) else 128


def _cudnn_backward(head: Size, value: Size) -> bool:
    if _true(head <= 128) and _true(value <= 128):
        return True
    return any(_true(head == one) and _true(value == other) for one, other in ((192, 128), (256, 256)))


def _efficient_groups(asked: Question) -> bool:
    return asked.rules.shared_heads and not asked.device.is_hip


CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    CUDNN: (
        *(_cudnn_there, _enabled(CUDNN), _dense, _four_dimensions, _cudnn_deterministic, _half, _mask_shape),
        *(
            _hardware((8, 0)),
            _cudnn_dropout,
            _length,
            _last_stride(True),
            _heads(lambda asked: True, same=False),
            _cudnn_shape,
        ),
    ),
    FLASH: (
        *(_enabled(FLASH), _dense, _four_dimensions, _no_mask, _flash_head, _hardware((8, 0)), _flash_gradient),
        *(
            _flash_causal,
            _half,
            lambda asked: _grid(asked) if asked.rules.flash_grid else None,
            _heads(lambda asked: True),
            _length,
            _last_stride(True),
        ),
    ),
    EFFICIENT: (
        *(_enabled(EFFICIENT), _dense, _hardware((5, 0)), _four_dimensions, _efficient_head, _efficient_offset),
        *(_length, _last_stride(False), _heads(_efficient_groups), _up_to_single),
    ),
    MATH: (_enabled(MATH),),
}
"""Kernel → its checks, in torch's order; the first one that fails gives the reason."""


def _distinct(values: Any) -> str:
    return " and ".join(dict.fromkeys(map(str, values)))


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _shape(sizes: tuple[Size, ...]) -> str:
    return f"[{', '.join(map(str, sizes))}]"
