"""The order of cells, as a person expects it: `9 kB` before `1.2 MB`, `op9` before `op10`."""

import re
from typing import Final

from inspect_compile.tables.columns import Cell, plain

Key = tuple[int, float, tuple[tuple[int, int, str], ...]]

_AMOUNT: Final = re.compile(
    r"[≈~<>≥≤+ ]*(?P<number>[-−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>[^\W\d_]*|%|×)"
)
_PIECES: Final = re.compile(r"\d{1,18}|\D+")
_PREFIXES: Final = {
    "n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15
}  # fmt: skip
_UNITS: Final = ("s", "B", "iB", "FLOP", "FLOPs", "")
"""What a prefix may stand before."""
_WORDS: Final = {"min": 60.0, "h": 3600.0}

_NUMBER, _TEXT, _NOTHING = range(3)


def order_key(cell: Cell) -> Key:
    """What cells are sorted by: amounts by their value in the base unit, then texts, then empty cells."""
    text = plain(cell).strip()
    if not text:
        return _NOTHING, 0.0, ()
    found = _AMOUNT.match(text)
    if found is not None and _ends_a_word(text, found.end()):
        number = found["number"].replace("−", "-").replace(",", "")
        return _NUMBER, float(number) * _scale(found["unit"]), _pieces(text[found.end() :])
    return _TEXT, 0.0, _pieces(text)


def _ends_a_word(text: str, end: int) -> bool:
    return end == len(text) or not (text[end].isalnum() or text[end] == "_")


def _scale(unit: str) -> float:
    if unit in _WORDS:
        return _WORDS[unit]
    return _PREFIXES.get(unit[:1], 1.0) if unit[1:] in _UNITS and unit not in _UNITS else 1.0


def _pieces(text: str) -> tuple[tuple[int, int, str], ...]:
    """Digits as numbers, so that `op9` comes before `op10`."""
    found = _PIECES.findall(text.casefold())
    return tuple((0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in found)
