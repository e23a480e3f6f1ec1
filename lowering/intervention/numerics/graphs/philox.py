"""The random numbers of Inductor's kernels, computed again with torch: Philox 4x32-10, as torch's cpp_prefix.h and
Triton's language/random.py have it.

A kernel computes them from a seed and the position of an element, and stores none of them.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import torch

_ROUNDS: Final = 10
_MASK: Final = 0xFFFFFFFF
_A, _B = 0xD2511F53, 0xCD9E8D57
_KEY_A, _KEY_B = 0x9E3779B9, 0xBB67AE85
_SCALE: Final = 4.6566127342e-10
_SMALLEST: Final = 1.0e-7
"""Triton takes the logarithm of nothing below."""
_AT_ONCE: Final = 1 << 14
"""Number of counters whose numbers are computed at once: all of their steps stay in a core's cache."""
_AT_ONCE_ON_A_DEVICE: Final = 1 << 24
"""The same on a GPU, which a part of that size does not keep busy: it only bounds the memory for them."""


class Form(NamedTuple):
    """Which of the four numbers of a counter an element gets, and how it becomes a float."""

    in_triton: bool = False
    by_four: bool = False
    """Four neighbouring elements have one counter; else each has its own, and gets the first number of it."""
    mixed: bool = False
    """Some kernels of the graph draw by four and others do not: nothing is known."""


IN_CPP: Final = Form()


def form_of(source: str) -> Form:
    """How the kernels in the generated code of a graph draw: since torch 2.13 Triton kernels with one dimension draw by
    four, others do not.
    """
    by_four = re.search(r"\btriton_helpers\.randn?4x\(", source) is not None
    by_one = re.search(r"\btl\.randn?\(", source) is not None
    return Form(in_triton="async_compile.triton(" in source, by_four=by_four, mixed=by_four and by_one)


def random(size: Sequence[int], seed: torch.Tensor, mode: str, form: Form = IN_CPP) -> torch.Tensor:
    """What `inductor_random` gives, in float32 and on the device of the seed: `mode` is rand or randn. Raises
    ValueError for another mode, or if the form is mixed.
    """
    if mode not in ("rand", "randn") or form.mixed:
        msg = "random numbers that are drawn in two ways" if form.mixed else f"random numbers of the kind {mode}"
        raise ValueError(f"{msg} are not computed again")
    count = math.prod(size)

    def part(numbers: list[torch.Tensor]) -> torch.Tensor:
        uniform = [_uniform(one, form) for one in (numbers if form.by_four else numbers[:2])]
        if mode == "rand":
            found = uniform
        elif form.in_triton:
            found = [one for at in range(0, len(uniform), 2) for one in _normal(*uniform[at : at + 2])]
        else:
            found = [_radius(1 - uniform[0]) * torch.cos(2.0 * math.pi * (1 - uniform[1]).double())]
        chosen = torch.stack(found, dim=-1).reshape(-1) if form.by_four else found[0]
        return chosen.to(torch.float32)

    counters = -(-count // 4) if form.by_four else count
    return _in_parts(int(seed), counters, seed.device, form, part)[:count].reshape(tuple(size))


def randint(low: int, high: int, size: Sequence[int], seed: torch.Tensor, form: Form = IN_CPP) -> torch.Tensor:
    """What `inductor_randint` gives, int64, on the device of the seed; raises ValueError if the range is wider than 31
    bits.
    """
    if high - low >= 1 << 31:
        msg = "random integers of more than 31 bits are not computed again"
        raise ValueError(msg)
    span = high - low

    def part(numbers: list[torch.Tensor]) -> torch.Tensor:
        first, second, *_ = numbers
        # (second * 2**32 + first) % span without a number of more than 63 bits.
        rest = ((second % span) * ((1 << 32) % span) + first) % span
        return rest + low

    return _in_parts(int(seed), math.prod(size), seed.device, form, part).reshape(tuple(size))


def _in_parts(
    seed: int, count: int, device: torch.device, form: Form, part: Callable[[list[torch.Tensor]], torch.Tensor]
) -> torch.Tensor:
    """What `part` makes of the numbers of the counters 0 to `count`, some of them at a time."""
    step = _AT_ONCE if device.type == "cpu" else _AT_ONCE_ON_A_DEVICE
    parts = [
        part(_philox(seed, start, min(count, start + step), device, wide=form.in_triton))
        for start in range(0, max(1, count), step)
    ]
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _philox(seed: int, start: int, end: int, device: torch.device, *, wide: bool) -> list[torch.Tensor]:
    """Four numbers of 32 bits, as int64, of each counter from `start` to `end`, by a seed of 64 bits if it is `wide`,
    else by the lower 32 of it.
    """
    zero = torch.zeros(end - start, dtype=torch.int64, device=device)
    counter = [torch.arange(start, end, dtype=torch.int64, device=device) & _MASK, zero, zero, zero]
    key_a, key_b = seed & _MASK, (seed >> 32) & _MASK if wide else 0
    for _ in range(_ROUNDS):
        high_a, low_a = _product(_A, counter[0])
        high_b, low_b = _product(_B, counter[2])
        counter = [high_b ^ counter[1] ^ key_a, low_b, high_a ^ counter[3] ^ key_b, low_a]
        key_a, key_b = (key_a + _KEY_A) & _MASK, (key_b + _KEY_B) & _MASK
    return counter


def _product(factor: int, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower 32 bits of a product of 64 bits."""
    product = factor * values  # modulo 2**64: of the bits that are looked at, none is lost by the sign
    return (product >> 32) & _MASK, product & _MASK


def _uniform(numbers: torch.Tensor, form: Form) -> torch.Tensor:
    """In [0, 1). C++ drops the sign of 32 bits, Triton takes the complement of what is negative."""
    kept = numbers & 0x7FFFFFFF
    if form.in_triton:
        kept = torch.where(numbers > 0x7FFFFFFF, numbers ^ _MASK, numbers)
    return kept.to(torch.float32) * torch.tensor(_SCALE, dtype=torch.float32)


def _normal(first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two normal numbers of two uniform ones: Box and Muller."""
    radius, angle = _radius(first.clamp_min(_SMALLEST)), 2.0 * math.pi * second.double()
    return radius * torch.cos(angle), radius * torch.sin(angle)


def _radius(uniform: torch.Tensor) -> torch.Tensor:
    return torch.sqrt(-2.0 * torch.log(uniform.double()))
