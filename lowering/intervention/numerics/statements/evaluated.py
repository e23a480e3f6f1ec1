"""The statements of a C++ kernel in the iteration that stored one element, each beside what its operation gives."""

import functools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import torch

from inspect_compile.facts import StatementOperand, StatementValue
from inspect_compile.knowledge.numerics.formats import EPSILON
from inspect_compile.knowledge.numerics.statements import is_wrong
from inspect_compile.lowering.intervention.numerics.statements.one_launch import Element, Memory
from inspect_compile.lowering.intervention.numerics.steps.indices import evaluated
from inspect_compile.lowering.intervention.numerics.steps.operators import combined, computed, initial

_ACCUMULATOR: Final = re.compile(r"(?:masked_)?(tmp_acc\d+)")
_NOT_ONE_STEP: Final = ("vec_reduce_all", "cascade", "welford", "argmax", "argmin", "helper")
"""Statements with one of these in their text do more to an accumulator than add one value to it."""
_OF_ADDITION: Final = 3
"""Numbers that an addition to memory writes out."""
_BY_MAGNITUDE: Final[Mapping[str, float]] = {"erf": 4.0, "erfc": 4.0}
"""Operators whose vectorized form has an absolute error, of so many roundings of 1: it is a polynomial that is near the
function, but not near to 0 where that is.
"""
_ADDS: Final = ("add", "sub")


class Evaluated(NamedTuple):
    """One statement."""

    body: Any
    """The operations of the loop body that it belongs to (`codegen.numerics.operations.Body`)."""
    row: StatementValue
    is_floating: bool


class Read(NamedTuple):
    """A statement that read what the same kernel is to have stored before."""

    element: Element
    row: StatementValue
    dtype: str


class Statements:
    """What a kernel wrote out of one iteration."""

    def __init__(
        self,
        kernel: Any,
        memory: Mapping[str, Memory],
        element: Element,
        values: Any,
        other_lane: int | None = None,
        reduced: dict[tuple[int, str], StatementValue] | None = None,
        *,
        sizes: Mapping[str, int],
    ) -> None:
        """`kernel` is the kernel's probed form, and `values` what it wrote out as it stored `element`. `memory` is that
        of its arguments. `other_lane`: which lane of vectors is looked at in loops that do not store the element, or
        which element of a row that the kernel has at once. `reduced` keeps what all lanes of the same `values` have in
        common: reductions of rows. `sizes`: what symbols of indices stood for.
        """
        self._kernel = kernel
        self._memory = memory
        self._sizes = sizes
        self._element = element
        self._values = values
        self._store = values.store
        self._other_lane = other_lane
        self.storing = self._kernel.body(self._store.line)
        """The body that stores the element; None if it is stored after a loop."""
        self._at_store: dict[str, float] = {}
        """Variables of the loops around the store."""
        self._known: dict[tuple[int, str], tuple[float, float]] = {}
        """Body and variable → its latest value, and the exact one."""
        self._first: dict[int, dict[str, float]] = {}
        """Body → the variables of the loops around its first statement."""
        self._loops: dict[str, float] = dict(values.loops)
        """Variables of the loops around the statement."""
        self._reductions = {} if reduced is None else reduced
        """Line and variable → the reduction of a row there."""
        self._rows: dict[str, list[float]] = {}
        """Variable → its value for each element of a row, in a kernel that has a row at once."""
        if kernel.row_variable:
            self._loops[kernel.row_variable] = float(self._lane(None))
        self.reads: list[Read] = []
        """The statements that read elements of buffers which the kernel writes."""
        self._read: Element | None = None
        self.is_whole = True
        """False if it read something of which it is not known where the same kernel stored it."""

    def evaluated(self) -> list[Evaluated]:
        """The statements around the store, in the order of the source."""
        found = []
        loops = self._loops_around
        for position, point in enumerate(self._kernel.points):
            if not self._store.follows(point):
                continue  # after the store are values of the iteration before
            self._loops = loops[position]
            if point.kind == "value":
                row = self._evaluated(position, point)
                if row is not None:
                    found.append(row)
            elif point == self._store:
                self._at_store = dict(self._loops)
                if point.is_addition and len(lanes := self._values.lanes[position]) == _OF_ADDITION:
                    found.append(Evaluated(self.storing, self._added(point, *lanes), True))
        return found

    def stored(self) -> float | None:
        """The value that the statement stored as the element; None if it is not known, or was not the only one."""
        at = self._kernel.points.index(self._store)
        if self._values.stored > 1 or self._store.is_addition:
            return None
        loops = self._loops_around
        for position in range(at - 1, -1, -1):
            point = self._kernel.points[position]
            if point.kind == "value" and point.name == self._store.name and self._store.follows(point):
                lanes: list[float] = self._values.lanes[position]
                lane = int(self._values.lane)
                # What was not passed in the iteration of the store has the values of a later one.
                is_here = all(loops[at].get(name, value) == value for name, value in loops[position].items())
                if lanes and is_here:
                    return lanes[lane if lane < len(lanes) else 0]
        return None

    @functools.cached_property
    def _loops_around(self) -> list[dict[str, float]]:
        """The variables of the loops around each point when it was passed last."""
        found: list[dict[str, float]] = []
        loops = before = self._loops
        line = nest = 0
        for position, point in enumerate(self._kernel.points):
            if point.nest != nest:
                loops, nest = before, point.nest
            if point.kind == "loop":
                loops = dict(loops) if point.line == line else {}
                line = point.line
                if lanes := self._values.lanes[position]:
                    loops[point.name] = lanes[0]
            found.append(loops)
        return found

    def _added(self, point: Any, before: float, more: float, after: float) -> StatementValue:
        slack = max(abs(before), abs(more))
        memory = self._memory.get(self._element.buffer)
        dtype = "float32" if memory is None else str(memory.dtype).removeprefix("torch.")
        wrong = is_wrong(after, before + more, dtype, operands=slack)
        given = StatementOperand("", str(before)), StatementOperand(point.name, str(more))
        return StatementValue(
            point.line, "atomic_add", "", str(after), str(before + more), "", wrong, dtype=dtype, operands=given
        )

    def stores_elsewhere(self) -> bool:
        """True if the statement that stored the element is to store its value in another place."""
        for due in self.storing.stores if self.storing is not None else ():
            if due.variable == self._store.name and due.buffer == self._element.buffer:
                position = self._index(due.index, self.storing, self._at_store)
                return position is not None and position != self._element.position
        return False

    def stores_another(self) -> bool:
        """True if the statement that stored the element stores a variable that is for no buffer in this memory."""
        stores = self.storing.stores if self.storing is not None else ()
        is_due = any(due.buffer == self._element.buffer for due in stores)
        if not is_due or self._store.name not in self.storing.variables:
            return False
        place = self._memory[self._element.buffer].here.data_ptr()
        meant = (self._memory.get(due.buffer) for due in stores if due.variable == self._store.name)
        return not any(memory is None or memory.here.data_ptr() == place for memory in meant)

    def _lane(self, body: Any) -> int:
        own, other = int(self._values.lane), self._other_lane
        if self._kernel.row_variable:
            return own if other is None else other
        return own if body is self.storing else other or 0

    def _evaluated(self, position: int, point: Any) -> Evaluated | None:
        lanes = self._values.lanes[position]
        accumulator = _ACCUMULATOR.match(point.name)
        body = self._kernel.body(point.line)
        if not lanes or (body is None and accumulator is None):
            return None
        first = self._first.setdefault(id(body), self._loops) if body is not None else self._loops
        if any(first.get(name, value) != value for name, value in self._loops.items()):
            return None  # a part of the body that this iteration passed over
        lane = self._lane(body)
        if not self._kernel.has_lane(body, lane) or 1 < len(lanes) <= lane:
            return None
        value = lanes[lane if lane < len(lanes) else 0]
        if self._kernel.row_variable:
            self._rows[point.name] = lanes
        if accumulator is not None:
            row = self._accumulated(position, point, body, accumulator[1], value)
        else:
            row = self._computed(point, body, value)
        exact = float(row.exact) if row.exact else value
        self._known[id(body), point.name] = value, exact
        operation = None if body is None else body.variables.get(point.name)
        return Evaluated(body, row, operation is not None and getattr(operation.dtype, "is_floating_point", False))

    def _computed(self, point: Any, body: Any, value: float) -> StatementValue:
        operation = body.variables.get(point.name)
        if operation is None:
            return StatementValue(point.line, "", "", str(value))
        given = [self._given(one, body, 0) for one in operation.arguments]
        expected, exact = None if self._is_masked(point, body) else self._of(operation, given, body), None
        if expected is not None and operation.name not in ("load", "index_expr"):
            exact = self._of(operation, [self._given(one, body, 1) for one in operation.arguments], body)
        numbers = [abs(one) for one in given if isinstance(one, float)]
        if operation.name == "reduction":
            place = point.line, point.name
            if place not in self._reductions:
                self._reductions[place] = self._reduced(point, operation, value)
            return self._reductions[place]
        slack = max(numbers, default=0.0) if operation.name in _ADDS else _BY_MAGNITUDE.get(operation.name, 0.0)
        wrong = expected is not None and is_wrong(value, expected, _dtype(operation), operands=slack)
        if wrong and operation.name == "load" and (part := self._stored_before(value, operation, body)) is not None:
            self._read, wrong, expected = part, False, None
        operands = tuple(
            StatementOperand(getattr(argument, "name", ""), str(one))
            for argument, one in zip(operation.arguments, given, strict=True)
            if isinstance(one, float)
        )
        row = StatementValue(
            *(point.line, operation.name, operation.node, str(value), _text(expected), _text(exact), wrong),
            dtype=_dtype(operation),
            operands=operands,
        )
        if wrong and operation.name == "load":
            row = self._misread(row, operation, body)
        if self._read is not None:
            self.reads.append(Read(self._read, row, _dtype(operation)))
            self._read = None
        return row

    def _misread(self, row: StatementValue, operation: Any, body: Any) -> StatementValue:
        """A load with what it may have read in the place of its element."""
        buffer, value = operation.arguments[0], float(row.value)
        position = self._index(operation.arguments[1], body, self._loops)
        if position is None or value != value:
            return row
        others = {
            memory.address: name
            for name, memory in self._memory.items()
            if memory.address != self._memory[buffer].address and memory.at(position) == value
        }
        return msgspec.structs.replace(
            row,
            element=position,
            read=self._memory[buffer].only_at(value),
            read_from=next(iter(others.values())) if len(others) == 1 else "",
        )

    def _reduced(self, point: Any, operation: Any, value: float) -> StatementValue:
        """A reduction of a row that the kernel has at once."""
        kind, operand = str(operation.arguments[0]), operation.arguments[1]
        lanes = self._rows.get(getattr(operand, "name", ""), [])
        found = initial(kind, operation.dtype) if kind in ("sum", "prod") else lanes[0] if lanes else None
        for one in lanes:
            found = None if found is None else combined(kind, found, one)
        expected = found if lanes else None
        size = math.fsum(map(abs, lanes))
        slack = size if kind == "sum" else 0.0
        wrong = expected is not None and is_wrong(value, expected, _dtype(operation), operands=slack)
        return StatementValue(
            *(point.line, f"reduction.{kind}", operation.node, str(value), _text(expected), "", wrong),
            dtype=_dtype(operation),
            terms=len(lanes),
            magnitude=str(size),
        )

    def _is_masked(self, point: Any, body: Any) -> bool:
        """True for a load of Triton's that a mask, which the kernel computes, leaves out for this element."""
        known = (self._known.get((id(body), name)) for name in self._kernel.masked_by(point))
        return any(one is not None and not one[0] for one in known)

    def _of(self, operation: Any, given: Sequence[Any], body: Any) -> float | None:
        if operation.name == "load":
            return self._loaded(operation.arguments[0], operation.arguments[1], body)
        if operation.name == "index_expr":
            position = self._index(operation.arguments[0], body, self._loops)
            return None if position is None else float(position)
        return computed(operation.name, given)

    def _given(self, argument: Any, body: Any, which: int) -> Any:
        """An argument of an operation as a number, if it is one. `which`: 0 for the kernel's value, 1 for the exact."""
        name = getattr(argument, "name", None)
        if type(argument).__name__ == "Variable" and name is not None:
            known = self._known.get((id(body), name))
            return None if known is None else known[which]
        return float(argument) if isinstance(argument, (int, float)) else argument

    def _loaded(self, buffer: str, index: Any, body: Any) -> float | None:
        position = self._index(index, body, self._loops)
        if position is None:
            return None
        memory: Memory | None = self._memory.get(buffer)
        if memory is None:
            return None
        there = self._written_at(memory)
        before = memory.at(position)
        if not there or self._kernel.row_variable:  # a Triton kernel stores nothing when its values are written out
            return before
        if buffer not in self._kernel.written:
            # A C++ kernel that writes its result where an argument is reads each element before. What it has to write
            # is filled with NaN: where that is, what it stored as a part of this buffer is read.
            if memory.dtype.is_floating_point and before is not None and not math.isnan(before):
                return before
            self._read = self._part(memory, position, there)
            self.is_whole = self.is_whole and self._read is not None
            return None
        self._read = Element(buffer, position)
        # What the kernel stored there is looked at next, if it can be. In a loop that is too much, and what is there
        # now is taken, if no other buffer of the kernel shares the memory.
        is_settled = there == [buffer] and buffer != self._element.buffer
        return memory.now(position) if is_settled and self._other_lane is not None else None

    def _stored_before(self, value: float, operation: Any, body: Any) -> Element | None:
        """The element that a load reads, if `value`, which it got, is what the kernel stored there by another name."""
        buffer = operation.arguments[0]
        memory = self._memory.get(buffer)
        position = self._index(operation.arguments[1], body, self._loops)
        if memory is None or position is None or self._kernel.row_variable or memory.now(position) != value:
            return None
        return self._part(memory, position, self._written_at(memory)) or Element(buffer, position)

    def _written_at(self, memory: Memory) -> list[str]:
        """The buffers in this memory that the kernel writes."""
        place = memory.here.data_ptr()
        known = ((name, self._memory.get(name)) for name in self._kernel.written)
        return [name for name, one in known if one is not None and one.here.data_ptr() == place]

    def _part(self, memory: Memory, position: int, names: Sequence[str]) -> Element | None:
        """The element by the name of a buffer that the kernel writes, and that has its memory."""
        for name in names:
            part = self._memory[name]
            at = position + (memory.address - part.address) // part.dtype.itemsize
            if self._kernel.has_place(name, at, self._sizes):
                return Element(name, at)
        return None

    def _index(self, index: Any, body: Any, loops: dict[str, float]) -> int | None:
        """A position in a buffer's memory, from torch's expression in the variables of the loops."""
        values = {}
        for symbol in getattr(index, "free_symbols", ()):
            name = str(symbol)
            known = loops.get(f"{name}_tail", loops.get(name))
            if known is None:
                variable = self._known.get((id(body), name))
                known = self._sizes.get(name) if variable is None else variable[0]
            if known is None:
                return None
            inside = int(loops.get(f"{name}_inner", 0)) if name == body.within else 0
            values[symbol] = int(known) + inside + (self._lane(body) if name == body.along else 0)
        try:
            return int(evaluated(index, values))
        except (TypeError, ValueError, AttributeError):
            return None

    def _accumulated(self, position: int, point: Any, body: Any, name: str, value: float) -> StatementValue:
        bodies = self._kernel.bodies.get(point.line, ())
        operation = next((one for each in bodies if (one := _reduction(each, name)) is not None), None)
        if operation is None:
            return StatementValue(point.line, "", "", str(value))
        kind = str(operation.arguments[0])
        before = self._kernel.points[position - 1] if position else None
        expected, slack = None, abs(value)
        operands: tuple[StatementOperand, ...] = ()
        if any(word in point.text for word in _NOT_ONE_STEP):
            pass
        elif before is None or before.kind != "before" or before.line != point.line:
            expected = initial(kind, operation.dtype)
        elif body is not None:
            lanes, lane = self._values.lanes[position - 1], self._lane(body)
            added = self._given(operation.arguments[1], body, 0)
            if lanes and isinstance(added, float):
                earlier = lanes[lane if lane < len(lanes) else 0]
                expected, slack = combined(kind, earlier, added), max(abs(earlier), abs(added))
                variable = getattr(operation.arguments[1], "name", "")
                operands = StatementOperand(point.name, str(earlier)), StatementOperand(variable, str(added))
        wrong = expected is not None and is_wrong(value, expected, _dtype(operation), operands=slack)
        return StatementValue(
            *(point.line, f"reduction.{kind}", operation.node, str(value), _text(expected), "", wrong),
            dtype=_dtype(operation),
            operands=operands,
        )


def _reduction(body: Any, accumulator: str) -> Any:
    for name, operation in body.variables.items():
        found = _ACCUMULATOR.match(name)
        if found is not None and found[1] == accumulator and operation.name == "reduction":
            return operation
    return None


def _dtype(operation: Any) -> str:
    """The dtype of which roundings are counted: the coarsest that the operation has to do with."""
    kinds = [one for one in (operation.dtype, *operation.arguments) if isinstance(one, torch.dtype)]
    if operation.dtype is not None and not operation.dtype.is_floating_point:
        return str(operation.dtype)
    names = [str(one).removeprefix("torch.") for one in kinds]
    return max((one for one in names if one in EPSILON), key=EPSILON.__getitem__, default="float32")


def _text(value: float | None) -> str:
    return "" if value is None else str(value)
