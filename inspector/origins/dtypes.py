"""torch's types of elements: their bytes, and how FX graphs abbreviate them."""

from collections.abc import Iterable, Sequence
from typing import Final

LARGEST: Final = 2**63
"""Numbers from here on are damage: no fact holds one."""

ITEM_BYTES: Final[dict[str, int]] = {
    "bool": 1,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8,
    "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
    "complex32": 4, "complex64": 8, "complex128": 16,
}  # fmt: skip
"""torch's name of a type → bytes of one element."""

ABBREVIATED: Final[dict[str, str]] = {
    "b8": "bool",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fnx2": "float4_e2m1fn_x2",
    "c32": "complex32", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
"""Abbreviation in a printed graph → torch's name."""


def storage_bytes(dtype: str, size: Sequence[int], stride: Sequence[int]) -> int | None:
    """Bytes from the first element to the last; None for a type that is not known, and where there are too many."""
    item = ITEM_BYTES.get(dtype)
    if item is None:
        return None
    if 0 in size:
        return 0
    found = item * (1 + sum((length - 1) * step for length, step in zip(size, stride, strict=False)))
    return found if 0 <= found < LARGEST else None


def product(values: Iterable[int | None]) -> int | None:
    """The product; None where a value is None, and where it is too large."""
    found, known = 1, list(values)
    if 0 in known:
        return 0 if None not in known else None
    for value in known:
        if value is None or abs(found) >= LARGEST:
            return None
        found *= value
    return found if abs(found) < LARGEST else None
