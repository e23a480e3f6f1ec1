"""A loaded C++ kernel that can be run with the values of its statements written out."""

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.codegen.numerics.loaded_sources import load, source_of
from inspect_compile.codegen.numerics.loops import Short, Span, holds, place_of, short, spans
from inspect_compile.codegen.numerics.operations import Body, Lines
from inspect_compile.codegen.numerics.probed_source import (
    HEADER,
    LANES,
    STORE,
    Point,
    Probed,
    base_name,
    count_in,
    probed,
)

_OTHER_STORE: Final = re.compile(r"out_ptr|store|buffer")
"""What a line has that may store to memory."""


class Missing(NamedTuple):
    """Why an element is never stored."""

    line: int
    """The statement that is to store it, or the loop or condition around it that leaves it out."""
    left_out: Short | None = None
    """For a loop or a condition."""


class Values(NamedTuple):
    """What the kernel wrote out in the iteration that stored the element."""

    stored: int
    """How often it was stored."""
    lane: int
    """The lane of the vector that was stored."""
    store: Point | None
    """Where it was stored last."""
    lanes: Mapping[int, list[float]]
    """Position of a point → the values there, one for each lane; none if it was not passed."""
    loops: Mapping[str, float] = {}
    """Loop variables that are known without a point."""


class WithPoints:
    """What a C++ and a Triton kernel of a graph have in common."""

    row_variable: str = ""
    """A variable whose value is the position of a statement's lane: all lanes of a row are seen at once."""

    def __init__(self, points: list[Point], bodies: Lines) -> None:
        self.points = points
        """Where values are written out, in the order of the source."""
        self.bodies = bodies
        """Line number of the kernel's source → the bodies that it may belong to (`operations.bodies_of`)."""
        self.stored = [position for position, point in enumerate(points) if point.kind == STORE]
        """Positions of the points where something is stored."""

    @functools.cached_property
    def _all(self) -> list[Body]:
        return list(dict.fromkeys(body for bodies in self.bodies.values() for body in bodies))

    def masked_by(self, point: Point) -> tuple[str, ...]:
        """The variables in the mask of what is loaded there."""
        return ()

    @functools.cached_property
    def written(self) -> frozenset[str]:
        """The buffers that it writes."""
        return frozenset(store.buffer for body in self._all for store in body.stores)


class ProbedKernel(WithPoints):
    """A C++ kernel."""

    def __init__(self, source: Probed, function: Callable[..., None], bodies: Lines) -> None:
        super().__init__(source.points, bodies)
        self._source = source
        self._function = function

    @functools.cached_property
    def _valid(self) -> dict[int, int]:
        """Identity of a body → number of lanes that hold elements: the last vector of a row may be shorter."""
        found: dict[int, int] = {}
        for point in self.points:
            body, count = self.body(point.line), count_in(point.text)
            if count is not None:
                found[id(body)] = min(count, found.get(id(body), count))
        return found

    def body(self, line: int) -> Body | None:
        """The body that a line belongs to; None if it belongs to several."""
        bodies = self.bodies.get(line, ())
        return bodies[0] if len(bodies) == 1 else None

    def has_lane(self, body: Body | None, lane: int) -> bool:
        """True if that lane of the body's vectors holds an element."""
        return lane < self._valid.get(id(body), lane + 1)

    def stores(self, buffer: str) -> list[int]:
        """Positions of the points where something is stored that the buffer is to hold."""
        return [
            position
            for position in self.stored
            if any(
                store.buffer == buffer and base_name(store.variable) == base_name(self.points[position].name)
                for body in self.bodies.get(self.points[position].line, ())
                for store in body.stores
            )
        ]

    def has_place(self, buffer: str, position: int, sizes: Mapping[str, int]) -> bool:
        """True if the buffer is known to have such an element, and where the loops get to it. `sizes`: what symbols
        stand for.
        """
        return any(_place(body, buffer, position, sizes) for body in self._all if _stores(body, buffer))

    def missing(self, buffer: str, position: int) -> Missing | None:
        """Why the element of the buffer is never stored; None if that is not known."""
        places = {body: _place(body, buffer, position) for body in self._all if _stores(body, buffer)}
        for body, place in places.items():
            if left_out := short(self._spans, self._lines_of(body), body.ranges, place):
                return Missing(left_out.line, left_out)
        seen = self.stores(buffer)
        if not self._source.loose.isdisjoint(seen):
            return None
        for body, place in places.items():
            lines = [self.points[at].line for at in seen if body in self.bodies[self.points[at].line]]
            lines = lines or [line for store, line in body.lines.items() if store.buffer == buffer]
            if not lines or not holds(self._spans, lines[0], place):
                continue
            if not seen and _OTHER_STORE.search(self._lines[lines[0] - 1]):
                return None  # of a form that is not understood
            return Missing(lines[0])
        return None

    def too_short(self, buffers: Iterable[str]) -> Short | None:
        """The first loop around what makes these buffers that leaves out a part of what it is to run through."""
        asked = frozenset(buffers)
        nests = {
            self._spans[line][0].line
            for line, bodies in self.bodies.items()
            if line in self._spans and any(_stores(body, one) for body in bodies for one in asked)
        }
        for body in self._all:
            lines = self._lines_of(body)
            is_asked = bool(lines) and self._spans[lines[0]][0].line in nests
            if is_asked and (left_out := short(self._spans, lines, body.ranges, {})):
                return left_out
        return None

    def _lines_of(self, body: Body) -> list[int]:
        return [line for line, bodies in self.bodies.items() if bodies == (body,) and line in self._spans]

    @functools.cached_property
    def _lines(self) -> list[str]:
        return self._source.own.splitlines()

    @functools.cached_property
    def _spans(self) -> dict[int, tuple[Span, ...]]:
        return spans(self._source.own)

    def run(self, arguments: tuple[Any, ...], names: Sequence[str], address: int, turn: float = math.inf) -> Values:
        """Run the kernel with these arguments of the launch. `address` is that of the element of the buffer that has
        these names, and whose memory may hold other buffers before and after it. Inner loops that do not store the
        element write out the values of that turn, counted from 0, or their last.
        """
        out = torch.zeros(self._source.size, dtype=torch.float64)
        for position in [at for name in names for at in self.stores(name)] or self.stored:
            at = HEADER + position * (LANES + 1)
            out[at], out[at + 1] = 1, self.points[position].loop
        out[HEADER - 1] = turn
        self._function(*arguments, out, address)
        times, lane, at, _, *rest = out.tolist()
        values = {}
        for position in range(len(self.points)):
            count, *lanes = rest[position * (LANES + 1) : (position + 1) * (LANES + 1)]
            values[position] = lanes[: int(count)]
        return Values(int(times), int(lane), self.points[int(at)] if times else None, values)


def _stores(body: Body, buffer: str) -> bool:
    return any(store.buffer == buffer for store in body.stores)


def _place(body: Body, buffer: str, position: int, sizes: Mapping[str, int] | None = None) -> dict[str, int]:
    indices = (store.index for store in body.stores if store.buffer == buffer)
    ranges = body.ranges
    if sizes:
        indices = (_known(index, sizes) for index in indices)
        known = {name: _known(size, sizes) for name, size in body.symbolic.items()}
        ranges = ranges | {name: int(size) for name, size in known.items() if getattr(size, "is_number", False)}
    return next((place for index in indices if (place := place_of(index, ranges, position))), {})


def _known(expression: Any, sizes: Mapping[str, int]) -> Any:
    """The expression with the sizes that its symbols stand for."""
    symbols = getattr(expression, "free_symbols", ())
    return expression.subs({one: sizes[str(one)] for one in symbols if str(one) in sizes}) if symbols else expression


def probed_kernel(function: Any, bodies: Lines) -> ProbedKernel | str:
    """The kernel that torch loaded as `function`, or why its statements' values cannot be had.

    Raises what torch's compiler raises.
    """
    source = source_of(function)
    if source is None:
        return "it is not a C++ kernel"
    if not bodies:
        return "it is not known which operation each of its statements was generated for"
    found = probed(source.text)
    if found is None or not any(point.kind == "store" for point in found.points):
        return "its source is in a form that cannot be read"
    return ProbedKernel(found, load((*source.argtypes, "double*", "int64_t"), found.text), bodies)
