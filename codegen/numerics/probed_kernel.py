"""A loaded C++ kernel that can be run with the values of its statements written out."""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from inspect_compile.codegen.numerics.loaded_sources import load, source_of
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
    def written(self) -> frozenset[str]:
        """The buffers that it writes."""
        return frozenset(name for bodies in self.bodies.values() for body in bodies for name, _, _ in body.stores)


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
        """The body that a line belongs to; None if it belongs to several, or to one with transposed vectors."""
        bodies = self.bodies.get(line, ())
        return bodies[0] if len(bodies) == 1 and not bodies[0].is_tile else None

    def has_lane(self, body: Body | None, lane: int) -> bool:
        """True if that lane of the body's vectors holds an element."""
        return lane < self._valid.get(id(body), lane + 1)

    def stores(self, buffer: str) -> list[int]:
        """Positions of the points where something is stored that the buffer is to hold."""
        return [
            position
            for position in self.stored
            if any(
                name == buffer and base_name(variable) == base_name(self.points[position].name)
                for body in self.bodies.get(self.points[position].line, ())
                for name, _, variable in body.stores
            )
        ]

    def sees_every_store(self, buffer: str) -> bool:
        """True if there is a point wherever something is stored that the buffer is to hold."""
        seen = {id(body) for at in self.stores(buffer) for body in self.bodies[self.points[at].line]}
        alone = (bodies for bodies in self.bodies.values() if len(bodies) == 1)
        bodies = {id(body): body for bodies in alone for body in bodies}
        storing = [key for key, body in bodies.items() if any(name == buffer for name, _, _ in body.stores)]
        return bool(storing) and seen.issuperset(storing)

    def run(self, arguments: tuple[Any, ...], buffer: str, address: int, turn: float = math.inf) -> Values:
        """Run the kernel with these arguments of the launch. `address` is that of the element of the buffer, whose
        memory may hold other buffers before and after it. Inner loops that do not store the element write out the
        values of that turn, counted from 0, or their last.
        """
        out = torch.zeros(self._source.size, dtype=torch.float64)
        for position in self.stores(buffer) or self.stored:
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


def probed_kernel(function: Any, bodies: Lines) -> ProbedKernel | str:
    """The kernel that torch loaded as `function`, or why its statements' values cannot be had.

    Raises what torch's compiler raises.
    """
    source = source_of(function)
    if source is None:
        return "it is no C++ kernel"
    if not bodies:
        return "it is not known which operation each of its statements was generated for"
    found = probed(source.text)
    if found is None or not any(point.kind == "store" for point in found.points):
        return "its source is not in the form that is understood"
    return ProbedKernel(found, load((*source.argtypes, "double*", "int64_t"), found.text), bodies)
