"""Differences from a contract in words. Knows no rule."""

from typing import Final

_STEPS: Final = ("", "k", "M", "G", "T", "P")


def number_words(number: float, unit: str = "") -> str:
    """`12`, `4.46 MB`, `1.2 GFLOP`; numbers that differ little keep their digits."""
    if not unit:
        return f"{number:,g}" if number < 1e6 else f"{number:,.0f}"
    size, step = float(number), 0
    while abs(size) >= 1000 and step + 1 < len(_STEPS):
        size /= 1000
        step += 1
    return f"{size:.4g} {_STEPS[step]}{'B' if unit == 'bytes' else unit}"


def change_words(what: str, of: str, before: int, after: int, label: str) -> str:
    """`graph breaks of Net.forward: 0 → 1 (print(x): …)`."""
    words = what if what in ("result of a dtype", "status") else f"{what}s"
    words = {"result of a dtype": "results by dtype", "guards": "guards"}.get(words, words)
    numbers = f"{before} → {after}" if before != after else f"{after}, others"
    return f"{words} of {of}: {numbers} ({label})"
