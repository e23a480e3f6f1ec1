"""Reads what torch writes above a Triton kernel for its runtime: sizes, and how block sizes may be chosen.

Parsed from the kernel's source; nothing is executed.
"""

import ast
import re
from typing import Any, Final

import msgspec

_DECORATOR: Final = re.compile(r"^@triton_heuristics\.(\w+)\(", re.MULTILINE)
_CONSTANT: Final = re.compile(r"^ +(\w+) ?: ?tl\.constexpr = (\S+)$", re.MULTILINE)
_LONGEST: Final = 100_000
_WORDS: Final = ("reduction_hint", "tile_hint", "grid_type")


class Heuristics(msgspec.Struct, frozen=True, kw_only=True):
    """The heuristics of one kernel."""

    name: str
    """pointwise, reduction, persistent_reduction, cooperative_reduction, split_scan, template, foreach and others."""
    size_hints: dict[str, int] = {}
    """Axis → its length, rounded up to a power of two."""
    reduction_hint: str = ""
    """INNER, OUTER, OUTER_TINY or DEFAULT."""
    tile_hint: str = ""
    """SQUARE or DEFAULT."""
    grid: str = ""
    """torch's grid class, such as `Grid1D`."""
    scores: dict[str, int] = {}
    """Axis → torch's score of coalesced memory accesses along it, roughly in bytes; empty without an analysis."""
    persistent: bool | None = None
    loads: int | None = None
    """torch's counts of loads, stores and so on, by which it chooses block sizes."""
    stores: int | None = None
    reductions: int | None = None
    constants: dict[str, str] = {}
    """Block sizes and other constants in the source; num_warps and num_stages of a template."""


def heuristics(source: str) -> Heuristics | None:
    """The heuristics in a kernel's source; None if it is not a Triton kernel of torch's."""
    found = _DECORATOR.search(source)
    if found is None:
        return None
    end = source.find("\n@triton.jit", found.start())
    call = source[found.start() + 1 : end if end > 0 else found.start()]
    if not 0 < len(call) < _LONGEST:
        return None
    try:
        tree = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Heuristics(name=found[1])
    words = {word.arg: word.value for word in tree.keywords} if isinstance(tree, ast.Call) else {}
    meta = _value(words.get("inductor_meta"))
    meta = meta if isinstance(meta, dict) else {}
    texts = {name: _word(words.get(name)) or str(meta.get(name) or "") for name in _WORDS}
    constants = {name: value.strip("'\"") for name, value in _CONSTANT.findall(source[end:])}
    for name in ("num_warps", "num_stages"):
        value = _value(words.get(name))
        if type(value) is int:
            constants[name] = str(value)
    return Heuristics(
        name=found[1],
        size_hints=_numbers(_value(words.get("size_hints"))),
        reduction_hint=texts["reduction_hint"],
        tile_hint=texts["tile_hint"],
        grid=texts["grid_type"],
        scores=_numbers(meta.get("tiling_scores")),
        persistent=True if found[1] == "persistent_reduction" else False if found[1] == "reduction" else None,
        loads=_count(meta.get("num_load")),
        stores=_count(meta.get("num_store")),
        reductions=_count(meta.get("num_reduction")),
        constants=constants,
    )


def _value(node: ast.expr | None) -> Any:
    """The value of a literal; of a dictionary, its literal entries."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Dict():
            return {
                key.value: _value(value)
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
        case _:
            return None


def _word(node: ast.expr | None) -> str:
    """`ReductionHint.INNER` → `INNER`."""
    return node.attr if isinstance(node, ast.Attribute) else ""


def _count(value: Any) -> int | None:
    return value if type(value) is int and abs(value) < 2**63 else None


def _numbers(value: Any) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {name: number for name, number in value.items() if _count(number) is not None}
