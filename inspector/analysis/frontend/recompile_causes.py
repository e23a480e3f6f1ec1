"""Why a frame was compiled again: what keeps the nearest of its earlier compiles from being used, and what recurs."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from inspect_compile.analysis.frontend.frames import Cause, causes
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, FailedGuard, Guard, Recompile
from inspect_compile.facts.compile_id import compile_order
from inspect_compile.graph import grouped

_MOST_COMPARED: Final = 8
"""Number of earlier compiles that a recompile is compared with, newest first."""
_EQUALS: Final = re.compile(r"^(?P<source>.+?) == (?P<value>.+)$")
_TENSOR: Final = re.compile(r"^(?P<dtype>\w+)\[(?P<sizes>[\d, ]*)\]$")
_LOCAL: Final = re.compile(r"\bL\['(\w+)'\]")
"""torch leaves this out where it says what failed."""
_CONSTANTS: Final = ("CONSTANT_MATCH", "EQUALS_MATCH")
_TENSORS: Final = "TENSOR_MATCH"


class Recurring(msgspec.Struct, frozen=True):
    """A value that kept a function from using an earlier compile, and how often."""

    causes: tuple[Cause, ...]
    """One for each of these recompiles, in their order."""
    alone: int
    """In how many of them it was the only value known to have changed."""

    @property
    def failed(self) -> FailedGuard:
        """The one that says most: how the first recompile came about, with the object that has the value."""
        return next((one.failed for one in self.causes if one.failed.holder), self.causes[0].failed)


def recurring(dump: Dump, rows: Iterable[Recompile]) -> list[Recurring]:
    """The values that have changed in these recompiles of one function, most frequent first."""
    each = [nearest(dump, row) for row in rows]
    found = grouped(((cause, len(one)) for one in each for cause in one), lambda pair: key(pair[0].failed))
    met = [
        Recurring(tuple(cause for cause, _ in pairs), sum(among == 1 for _, among in pairs)) for pairs in found.values()
    ]
    return sorted(met, key=lambda one: -len(one.causes))


def nearest(dump: Dump, recompile: Recompile) -> tuple[Cause, ...]:
    """What has changed since the newest earlier compile; since an older one if less has changed since that.

    torch names the first guard that failed of each earlier compile. What else had changed is found by comparing the
    guards of both compiles.
    """
    every = causes(dump, recompile)
    by_compile = grouped(
        ((compile_id, cause) for cause in every for compile_id in cause.compile_ids), lambda pair: pair[0]
    )
    best: dict[str, Cause] = {}
    for earlier in sorted(by_compile, key=compile_order, reverse=True)[:_MOST_COMPARED]:
        found = {key(cause.failed): cause for _, cause in by_compile[earlier]}
        for cause in _also(dump, earlier, recompile.graph):
            found.setdefault(key(cause.failed), cause)
        if not best or len(found) < len(best):
            best = found
    return tuple(best.values())


def key(failed: FailedGuard) -> str:
    """What two changes of the same value have in common."""
    return failed.what.removesuffix(".__code__") or re.sub(r"\b\d+\b", "#", failed.condition)


def _also(dump: Dump, earlier: str, later: str) -> Iterator[Cause]:
    """What the guards of two compiles say of the same value, where that differs."""
    now: dict[tuple[str, str], Guard] = {}
    for row in dump.rows_of_compile(Guard, later):
        now.setdefault((row.kind, row.source), row)
    is_static = _is_static(dump, earlier)
    for row in dump.rows_of_compile(Guard, earlier):
        other = now.get((row.kind, row.source))
        if other is None or not row.source:
            continue
        if row.kind in _CONSTANTS:
            yield from _constant(earlier, row, other)
        elif row.kind == _TENSORS:
            yield from _tensor(earlier, row, other, is_static=is_static)


def _constant(earlier: str, row: Guard, other: Guard) -> Iterator[Cause]:
    values = [next(filter(None, map(_EQUALS.match, one.code)), None) for one in (row, other)]
    if values[0] is None or values[1] is None or values[0]["value"] == values[1]["value"]:
        return
    source = _LOCAL.sub(r"\1", row.source)
    yield _cause(
        earlier, row, f"{source} == {values[0]['value']}", source, values[0]["value"], values[1]["value"], source
    )


def _tensor(earlier: str, row: Guard, other: Guard, *, is_static: bool) -> Iterator[Cause]:
    """Another dtype or rank; another size only where the earlier compile had fixed all of them."""
    before, after = _TENSOR.match(row.value), _TENSOR.match(other.value)
    if before is None or after is None:
        return
    source = _LOCAL.sub(r"\1", row.source)
    if before["dtype"] != after["dtype"]:
        yield _cause(earlier, row, "", f"dtype of {source}", before["dtype"], after["dtype"], source)
    old, new = (match["sizes"].split(", ") if match["sizes"] else [] for match in (before, after))
    if len(old) != len(new):
        yield _cause(earlier, row, "", f"rank of {source}", str(len(old)), str(len(new)), source)
    elif is_static:
        for index, (one, two) in enumerate(zip(old, new, strict=True)):
            if one != two:
                yield _cause(earlier, row, "", f"size of {source} in dimension {index}", one, two, source)


def _is_static(dump: Dump, compile_id: str) -> bool:
    """Was every size of the inputs of this compile's graph a number?"""
    inputs = [node for node in dump.rows_of_compile(DynamoNode, compile_id) if node.op == "placeholder"]
    return bool(inputs) and all(type(size) is int for node in inputs for value in node.values for size in value.size)


def _cause(earlier: str, row: Guard, condition: str, what: str, before: str, after: str, source: str) -> Cause:
    failed = FailedGuard(
        compile_id=earlier, condition=condition, what=what, before=before, after=after, source=source, where=row.where
    )
    return Cause(failed, (earlier,), row.where)
