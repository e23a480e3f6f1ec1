"""torch's types of elements: their bytes, and how FX graphs abbreviate them."""

from typing import Final

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


def storage_bytes(dtype: str, size: tuple[int, ...], stride: tuple[int, ...]) -> int | None:
    """Bytes from the first element to the last; None for a type that is not known."""
    item = ITEM_BYTES.get(dtype)
    if item is None:
        return None
    if 0 in size:
        return 0
    return item * (1 + sum((length - 1) * step for length, step in zip(size, stride, strict=False)))
