"""Sizes as people write them. Light: loaded at interpreter start."""

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}


def bytes_of(text: str) -> int | None:
    """Bytes of `500MB`, `2 GiB` or `1000`; None for what is no size."""
    number = text.strip().lower().removesuffix("b").removesuffix("i")
    bits = _UNITS.get(number[-1:], 0)
    number = (number[:-1] if bits else number).strip()
    if not number.replace(".", "", 1).isdecimal() or number.startswith(".") or number.endswith("."):
        return None
    return int(float(number) * (1 << bits))


def size_text(count: int) -> str:
    """`2GB`, in the form of the option."""
    for unit, bits in (("GB", 30), ("MB", 20), ("kB", 10)):
        if count >= 1 << bits:
            return f"{count / (1 << bits):.4g}{unit}"
    return f"{count}B"
