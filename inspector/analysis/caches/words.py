"""What differs between two keys, in words."""

import itertools
import re
from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.caches.keys import GRAPH, SOURCE, KeyDifference
from inspect_compile.knowledge.caches.keys import CONFIG, PARTS

_MOST: Final = 4
_LONGEST: Final = 60
_ADDRESS: Final = re.compile(r"\b0x[0-9a-f]{5,16}\b")
_TIME: Final = re.compile(
    r"\b(?:1[5-9]\d{8}(?:\.\d{1,9})?|20\d\d-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?)(?!\d)"
)
"""Seconds since 1970, or a date with or without a time."""
_ELEMENT: Final = re.compile(r"[^\s,(){}\[\]]+")
_FIELD: Final = re.compile(r"[(,] ?(\w+)=(.+?)(?=, \w+=|\)?$)")
"""`dtype=torch.float32` in `TensorMetadata(dtype=torch.float32, shape=torch.Size([8, 8]), …`."""


def difference_text(one: KeyDifference) -> str:
    """`torch._inductor.config.max_autotune: False → True`, `input 2: …`."""
    if one.part == GRAPH:
        if not one.member:
            return f"{PARTS[GRAPH]}: its code is the same, a constant or an object in it is not"
        return f"{PARTS[GRAPH]}: {_change(one)}{_because(one, is_code=True)}"
    if one.part == SOURCE and one.member:
        return f"{PARTS[SOURCE]}, line {one.member}: {_change(one)}{_because(one, is_code=True)}"
    if one.part in CONFIG and one.member:
        name = f"{CONFIG[one.part]}.{one.member}"
    elif one.part == "example_inputs" and one.member:
        name = f"input {one.member}"
    else:
        name = PARTS.get(one.part, one.part) + (f" ({one.member})" if one.member else "")
    if one.before is None and one.after is None:
        return name
    return f"{name}: {_change(one)}{_because(one)}"


def differences_text(found: Sequence[KeyDifference]) -> str:
    """The first ones; how many more there are."""
    listed = "; ".join(difference_text(one) for one in found[:_MOST])
    return listed + (f"; and {len(found) - _MOST} more" if len(found) > _MOST else "")


def _because(one: KeyDifference, *, is_code: bool = False) -> str:
    """What differs, where it is something that differs from run to run by itself; empty for anything else.

    In code the same words in another order are other code.
    """
    before, after = one.before or "", one.after or ""
    if before == after:
        return ""
    if _ADDRESS.sub("", before) == _ADDRESS.sub("", after):
        return " (an address, which differs in each process)"
    if _TIME.sub("", before) == _TIME.sub("", after):
        return " (a time)"
    if not is_code and sorted(_ELEMENT.findall(before)) == sorted(_ELEMENT.findall(after)):
        return " (the same elements in another order, as in a set)"
    return ""


def _change(one: KeyDifference) -> str:
    """What was, and what is: of a description by fields, the fields that differ."""
    before, after = (value if value is not None else "nothing" for value in (one.before, one.after))
    if before == after:
        return f"{_shortened(after, 0)}, and another one that prints the same"
    old, new = (dict(_FIELD.findall(value)) for value in (before, after))
    changed = [name for name in new if name in old and old[name] != new[name]]
    if changed:
        return ", ".join(f"{name} {old[name]} → {new[name]}" for name in changed)
    start = 0
    if max(len(before), len(after)) > _LONGEST:
        alike = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
        start = max(0, sum(1 for _ in alike) - _LONGEST // 2)
    return f"{_shortened(before, start)} → {_shortened(after, start)}"


def _shortened(value: str, start: int) -> str:
    found = value[start : start + _LONGEST]
    return f"{'…' if start else ''}{found}{'…' if len(value) > start + _LONGEST else ''}" or "empty"
