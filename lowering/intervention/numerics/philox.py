"""The random numbers of Inductor's C++ kernels, computed again with torch: Philox 4x32-10, as in torch's cpp_prefix.h.

A kernel computes them from a seed and the position of an element, and stores none of them.
"""

import math
from collections.abc import Sequence
from typing import Final

import torch

_ROUNDS: Final = 10
_MASK: Final = 0xFFFFFFFF
_A, _B = 0xD2511F53, 0xCD9E8D57
_KEY_A, _KEY_B = 0x9E3779B9, 0xBB67AE85
_SCALE: Final = 4.6566127342e-10


def random(size: Sequence[int], seed: torch.Tensor, mode: str) -> torch.Tensor:
    """What `inductor_random` gives on a CPU: float32, `mode` is rand or randn. Raises ValueError for another mode."""
    first, second, *_ = _philox(int(seed), math.prod(size))
    if mode == "rand":
        found = _uniform(first)
    elif mode == "randn":
        found = torch.sqrt(-2.0 * torch.log((1 - _uniform(first)).double())) * torch.cos(
            2.0 * math.pi * (1 - _uniform(second)).double()
        )
    else:
        msg = f"random numbers of the kind {mode} are not known"
        raise ValueError(msg)
    return found.to(torch.float32).reshape(tuple(size))


def randint(low: int, high: int, size: Sequence[int], seed: torch.Tensor) -> torch.Tensor:
    """What `inductor_randint` gives on a CPU, int64; raises ValueError if the range is wider than 31 bits."""
    if high - low >= 1 << 31:
        msg = "random integers of more than 31 bits are not computed again"
        raise ValueError(msg)
    first, second, *_ = _philox(int(seed), math.prod(size))
    span = high - low
    # (second * 2**32 + first) % span without a number of more than 63 bits.
    rest = ((second % span) * ((1 << 32) % span) + first) % span
    return (rest + low).reshape(tuple(size))


def _philox(seed: int, count: int) -> list[torch.Tensor]:
    """Four times `count` numbers of 32 bits, as int64: those of the counters 0 to `count`, by a seed of 32 bits."""
    zero = torch.zeros(count, dtype=torch.int64)
    counter = [torch.arange(count, dtype=torch.int64) & _MASK, zero, zero, zero]
    key_a, key_b = seed & _MASK, 0
    for _ in range(_ROUNDS):
        high_a, low_a = _product(_A, counter[0])
        high_b, low_b = _product(_B, counter[2])
        counter = [high_b ^ counter[1] ^ key_a, low_b, high_a ^ counter[3] ^ key_b, low_a]
        key_a, key_b = (key_a + _KEY_A) & _MASK, (key_b + _KEY_B) & _MASK
    return counter


def _product(factor: int, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and the lower 32 bits of a product of 64 bits."""
    upper, lower = factor >> 16, factor & 0xFFFF
    high = (upper * values + ((lower * values) >> 16)) >> 16
    low = ((((upper * values) & 0xFFFF) << 16) + lower * values) & _MASK
    return high, low


def _uniform(numbers: torch.Tensor) -> torch.Tensor:
    return (numbers & 0x7FFFFFFF).to(torch.float32) * torch.tensor(_SCALE, dtype=torch.float32)
