"""The blocks of a C++ kernel, and which values of its loop variables each line runs for, where numbers in it say so.

Plain texts in and out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_NUMBER: Final = r"(?:static_cast<\w+>\()?(-?\d+)L?\)?"
_FOR: Final = re.compile(r"for ?\((?:int64_t|long) (\w+) ?=")
_FOR_NUMBERS: Final = re.compile(
    rf"for ?\((?:int64_t|long) (\w+) ?= ?{_NUMBER}; ?\1 ?< ?{_NUMBER}; ?\1 ?(?:\+\+|\+= ?{_NUMBER})\)"
)
_BETWEEN: Final = re.compile(rf"\b(\w+) >= {_NUMBER} && \1 < {_NUMBER}")


class Span(NamedTuple):
    """A loop, or a condition on a loop variable."""

    line: int
    """Line number in the source, from 1."""
    variable: str
    first: int
    end: int
    """The first number that it leaves out."""
    loop: int
    """The line of the loop; for a condition, of the one that it stands in."""

    @property
    def is_loop(self) -> bool:
        return self.line == self.loop


class Short(NamedTuple):
    """A loop or a condition that leaves out a part of what its variable runs through."""

    line: int
    end: int
    """The first value that is left out."""
    due: int
    """Where it is to end."""


class Block(NamedTuple):
    """What an open brace begins."""

    line: int
    """The line of the brace."""
    loop: int = 0
    """The line of the loop that it is the body of; 0 if it is none's."""
    variable: str = ""
    """That of the loop."""
    spans: tuple[Span, ...] = ()
    """The loop, or the conditions, with numbers that it is the body of."""


def lines_in_blocks(lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, str, list[Block], int]]:
    """The lines of a C++ source: number, from `first` on, text, the blocks around it, the outermost first, and how many
    have begun or ended before it. The list of blocks is the same for all lines, and holds until the next one is read.
    """
    blocks, changes, begins = list[Block](), 0, Block(0)
    for number, line in enumerate(lines, first):
        if loop := _FOR.search(line):
            found = _FOR_NUMBERS.search(line)
            known = () if found is None else (Span(number, loop[1], int(found[2]), int(found[3]), number),)
            begins = Block(0, number, loop[1], known)
        elif line.strip().startswith("if"):
            inside = next((one.line for block in reversed(blocks) for one in block.spans if one.is_loop), 0)
            between = (Span(number, one[1], int(one[2]), int(one[3]), inside) for one in _BETWEEN.finditer(line))
            begins = Block(0, spans=tuple(between))
        yield number, line, blocks, changes
        for sign in line:
            if sign == "{":
                blocks.append(begins._replace(line=number))
                begins = Block(0)
            elif sign == "}" and blocks:
                blocks.pop()
            changes += sign in "{}"


def spans(source: str) -> dict[int, tuple[Span, ...]]:
    """Line number → the loops and conditions around it, the outermost first. Those without numbers are left out."""
    around = {
        number: tuple(span for block in blocks for span in block.spans)
        for number, _, blocks, _ in lines_in_blocks(source.splitlines())
    }
    return {number: found for number, found in around.items() if found}


def short(
    known: Mapping[int, Sequence[Span]], lines: Iterable[int], ranges: Mapping[str, int], place: Mapping[str, int]
) -> Short | None:
    """The first loop or condition around these lines of one body of the kernel that leaves out a part of the ranges.

    `ranges`: loop variable → how many values it is to have, from 0. `place`: values of some that are to be among them:
    for these only that is looked at.
    """
    line = next((one for one in lines if known.get(one)), None)
    for span in known[line] if line is not None else ():
        due = ranges.get(span.variable)
        if due is None:
            continue
        if span.is_loop:
            others = [one for one in _all(known) if one.is_loop and one.variable == span.variable and one != span]
            left_out = next(iter(_gaps([span], due)), None)
            if left_out is not None and not any(one.first == left_out[0] for one in others):
                return Short(span.line, *left_out) if _concerns(left_out, span.variable, place) else None
            continue
        beside = [one for one in _all(known) if one.loop == span.loop and one.variable == span.variable]
        beside = [_tail(known, one) or one for one in beside if not one.is_loop]
        for gap in _gaps(beside, due):
            if _concerns(gap, span.variable, place):
                return Short(next((one.line for one in beside if one.end == gap[0]), beside[0].line), *gap)
    return None


def holds(known: Mapping[int, Sequence[Span]], line: int, place: Mapping[str, int]) -> bool:
    """False if a loop or a condition around the line leaves these values of its variables out."""
    return all(span.first <= place.get(span.variable, span.first) < span.end for span in known.get(line, ()))


def place_of(index: object, ranges: Mapping[str, int], position: int) -> dict[str, int]:
    """The values of the loop variables for which an index is `position`; empty if they are not known.

    `index` is a sympy expression; only sums of multiples of variables are understood.
    """
    symbols = sorted(getattr(index, "free_symbols", ()), key=str)
    names = [str(symbol) for symbol in symbols]
    if any(name not in ranges for name in names):
        return {}
    try:
        start = int(index.subs(dict.fromkeys(symbols, 0)))  # type: ignore[attr-defined]
        steps = {str(one): int(index.coeff(one)) for one in symbols}  # type: ignore[attr-defined]
    except (TypeError, ValueError, AttributeError):
        return {}
    left, found = position - start, {}
    for name in sorted(names, key=lambda one: -abs(steps[one])):
        if not steps[name]:
            return {}
        found[name] = min(max(left // steps[name], 0), ranges[name] - 1)
        left -= found[name] * steps[name]
    by_name = {symbol: found[str(symbol)] for symbol in symbols}
    return found if int(index.subs(by_name)) == position else {}  # type: ignore[attr-defined]


def _all(known: Mapping[int, Sequence[Span]]) -> list[Span]:
    return list(dict.fromkeys(span for around in known.values() for span in around))


def _tail(known: Mapping[int, Sequence[Span]], condition: Span) -> Span | None:
    """The loop within a condition that runs through what is left of its variable element by element; None without."""
    name = f"{condition.variable}_tail"
    inside = (around for around in known.values() if condition in around)
    return next((one for around in inside for one in around if one.is_loop and one.variable == name), None)


def _gaps(parts: Sequence[Span], due: int) -> list[tuple[int, int]]:
    """What is left out of 0 to `due`: first number, and end."""
    found, at = [], 0
    for part in sorted(parts, key=lambda one: one.first):
        if part.first > at:
            found.append((at, part.first))
        at = max(at, part.end)
    return [*found, *([(at, due)] if at < due else [])]


def _concerns(gap: tuple[int, int], variable: str, place: Mapping[str, int]) -> bool:
    return variable not in place or gap[0] <= place[variable] < gap[1]
