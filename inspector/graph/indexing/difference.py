"""Compares two accesses of one buffer, and says why they do not touch the same elements at the same time."""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from inspect_compile.facts import Access
from inspect_compile.graph.indexing.index_text import (
    Sum,
    Term,
    UnreadableError,
    number,
    parse,
    plus,
    terms,
    times,
    value,
    written,
)
from inspect_compile.graph.rows import grouped

KINDS: Final = ("same", "transposed", "offset", "broadcast", "tiling", "sizes", "whole", "unknown")
"""Kinds of difference, the closest match first."""
_MOST_ACCESSES: Final = 24
"""Maximum number of accesses of one buffer by one operation that are compared."""


class Difference(msgspec.Struct, frozen=True):
    """How two operations touch one buffer."""

    buffer: str
    kind: str
    """`same`, `transposed`, `offset`, `broadcast`, `sizes`, `tiling`, `whole` (such as a library call) or `unknown`."""
    a: Access
    b: Access
    words: str
    a_marks: tuple[tuple[int, int], ...] = ()
    """Parts of `a.index` that differ, as (start, end)."""
    b_marks: tuple[tuple[int, int], ...] = ()


class _Loop(NamedTuple):
    stride: Sum
    length: Sum


class _Part(NamedTuple):
    """A term of the outermost sum."""

    term: Term
    key: str
    """Equal for terms that step alike: variables are identified by position and length."""
    start: Sum
    """The term's value before the first step."""


class _Walk(NamedTuple):
    """A parsed access: `offset + Σ stride · variable`, and the terms that are not such a product."""

    parts: list[_Part]
    loops: list[_Loop]
    """One for each variable, outermost first; the stride is empty if the index does not use the variable."""
    offset: Sum
    touched: Sum
    """Number of elements as torch counts them: the product of the lengths of the variables in the index."""
    whole: Sum
    """Number of iterations of all loops."""
    is_cut: bool
    by_position: Sum
    """The index, with variables named by their positions."""


def differences(a: Iterable[Access], b: Iterable[Access]) -> list[Difference]:
    """One difference for each buffer that both touch; of several accesses the two that match best are compared."""
    ones, others = _by_buffer(a), _by_buffer(b)
    found = []
    for buffer in ones.keys() & others.keys():
        pairs = [_difference(one, other) for one in ones[buffer] for other in others[buffer]]
        found.append(min(pairs, key=lambda pair: KINDS.index(pair.kind)))
    return sorted(found, key=lambda one: (KINDS.index(one.kind), one.buffer))


def _by_buffer(accesses: Iterable[Access]) -> dict[str, list[Access]]:
    found = grouped((access for access in accesses if access.kind != "weak"), lambda access: access.buffer)
    return {buffer: ones[:_MOST_ACCESSES] for buffer, ones in found.items()}


def _difference(a: Access, b: Access) -> Difference:
    if a.index is None or b.index is None:
        return Difference(a.buffer, "whole", a, b, _whole_words(a, b))
    try:
        one, other = _read(a), _read(b)
        kind = _kind(one, other)
        words, marks = _description(kind, one, other), (_marks(kind, one, other), _marks(kind, other, one))
    except UnreadableError:
        words = "an index is taken from a tensor, or of a form that can't be compared: the elements are not known"
        return Difference(a.buffer, "unknown", a, b, words)
    return Difference(a.buffer, kind, a, b, words, *marks)


def _read(access: Access) -> _Walk:
    text = access.index or ""
    lengths = {name: value(parse(length)) for name, _, length in (range_.partition("=") for range_ in access.ranges)}
    found = terms(text)
    if any(name.startswith("tmp") for term in found for name in term.names):
        raise UnreadableError
    start: dict[str, Sum] = {name: {} for name in lengths}
    places: dict[str, Sum] = {name: {(f"@{place}",): 1} for place, name in enumerate(lengths)}
    plain: dict[str, Sum] = {}
    parts = []
    for term in found:
        variables = term.names & lengths.keys()
        if not term.is_cut and len(variables) == 1:
            name = next(iter(variables))
            plain[name] = plus(plain.get(name, {}), _without(value(term.tree), name))
        over = sorted(f"{written(places[name])} < {written(lengths[name])}" for name in variables)
        key = f"{written(value(term.tree, places))} for {over}"
        parts.append(_Part(term, key, value(term.tree, start)))
    held = {name for term in found for name in term.names}
    whole: Sum = {(): 1}
    touched: Sum = {(): 1}
    for name, length in lengths.items():
        whole = times(whole, length)
        touched = times(touched, length) if name in held else touched
    tree = parse(text)
    return _Walk(
        parts,
        [_Loop(plain.get(name, {}), length) for name, length in lengths.items()],
        value(tree, start),
        touched,
        whole,
        any(term.is_cut for term in found),
        value(tree, places),
    )


def _without(product: Sum, name: str) -> Sum:
    """The stride of a variable in its term."""
    found: Sum = {}
    for names, count in product.items():
        if names.count(name) != 1:
            raise UnreadableError  # a power of a variable, or a sum in parentheses
        rest = list(names)
        rest.remove(name)
        found = plus(found, {tuple(rest): count})
    return found


def _kind(one: _Walk, other: _Walk) -> str:
    """The kind of difference, in the order of the checks of Scheduler.decide_fusion_fail_reason."""
    if one.touched != other.touched:
        return "sizes"
    if one.whole != other.whole:
        return "broadcast"
    if one.offset != other.offset:
        return "offset"
    if _lengths(one) == _lengths(other) and one.by_position == other.by_position:
        return "same"
    if one.is_cut or other.is_cut:
        return "tiling"
    if _merged(one.loops) == _merged(other.loops):
        return "same"
    if _sorted(one.loops) == _sorted(other.loops):
        return "transposed"
    return "unknown"


def _lengths(walk: _Walk) -> list[Sum]:
    return [loop.length for loop in walk.loops]


def _merged(loops: list[_Loop]) -> list[_Loop]:
    """The loops with contiguous neighbours merged into one, and loops of length 1 left out."""
    found: list[_Loop] = []
    for loop in (loop for loop in loops if number(loop.length) != 1):
        if found and found[-1].stride == times(loop.stride, loop.length):
            loop = _Loop(loop.stride, times(found.pop().length, loop.length))
        found.append(loop)
    return found


def _sorted(loops: list[_Loop]) -> list[tuple[str, str]]:
    """The loops sorted and merged regardless of their order."""
    left = _merged(loops)
    changed = True
    while changed:
        changed = False
        for outer in left:
            inner = next((loop for loop in left if loop is not outer and _continues(outer, loop)), None)
            if inner is not None:
                left = [loop for loop in left if loop is not outer and loop is not inner]
                left.append(_Loop(inner.stride, times(outer.length, inner.length)))
                changed = True
                break
    return sorted((written(loop.stride), written(loop.length)) for loop in left)


def _continues(outer: _Loop, inner: _Loop) -> bool:
    return bool(inner.stride) and outer.stride == times(inner.stride, inner.length)


def _marks(kind: str, walk: _Walk, other: _Walk) -> tuple[tuple[int, int], ...]:
    """The parts of `walk` that differ."""
    theirs = {part.key for part in other.parts}
    own = [part for part in walk.parts if kind != "same" and part.key not in theirs]
    if kind == "offset":
        own = [part for part in own if part.start]
    elif kind == "tiling":
        own = [part for part in own if part.term.is_cut]
    return tuple((part.term.start, part.term.end) for part in own)


def _description(kind: str, one: _Walk, other: _Walk) -> str:
    match kind:
        case "same":
            return "both touch the same elements in the same order"
        case "transposed":
            return f"the same elements with the loops in another order: {_steps(one)} against {_steps(other)}"
        case "offset":
            wrapped = ", and one of them wraps around with a remainder" if one.is_cut != other.is_cut else ""
            return f"another start: element {_count(one.offset)} against {_count(other.offset)}{wrapped}"
        case "sizes":
            return f"a different number of elements: {_count(one.touched)} against {_count(other.touched)}"
        case "broadcast":
            return (
                f"{_count(one.touched)} elements each, repeated (broadcast) in one of the two:"
                f" {_count(one.whole)} steps against {_count(other.whole)}"
            )
        case "tiling":
            whose = "both are" if one.is_cut and other.is_cut else f"the {'first' if one.is_cut else 'second'} is"
            return f"{whose} cut by a division or a remainder, as a reshape of a transposed or shifted tensor is"
    return f"other strides: {_steps(one)} against {_steps(other)}"


def _whole_words(a: Access, b: Access) -> str:
    if a.index is None and b.index is None:
        return "both use the whole buffer: neither has a loop over it that could be fused"
    return f"the {'first' if a.index is None else 'second'} uses the whole buffer, and has no loop over it"


def _steps(walk: _Walk) -> str:
    """Lengths and strides, outermost first."""
    return " × ".join(f"{_count(loop.length)} (stride {_count(loop.stride)})" for loop in walk.loops) or "one element"


def _count(found: Sum) -> str:
    known = number(found)
    return written(found) if known is None else f"{known:,}"
