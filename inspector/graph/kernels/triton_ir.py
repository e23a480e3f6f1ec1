"""What one program instance of a Triton kernel computes and touches, from its first stage, TTIR.

Inductor records the operations of its own kernels while it generates them; a user's kernel has only TTIR. Operations on
floats count, for every element of their block; integers are taken to be indices and masks. A loop counts as often as
its bounds and the launch's arguments say, and both branches of a condition count: docs/flops.md.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspect_compile.knowledge.cost.triton_operations import NOT_COUNTED, Operations, operations

MOST: Final = 2**63 - 1
_LONGEST: Final = 20_000
"""Maximum length of a line that is parsed, in characters."""
_MOST_PARAMETERS: Final = 256

_OPERATION: Final = re.compile(r"(?:(%[\w.$-]+)(?::\d+)? = )?\"?([a-z_]+\.[\w.]+)\"?(.*)")
_VALUE: Final = re.compile(r"%[\w.$-]+")
_TENSOR: Final = re.compile(r"tensor<((?:\d++x)*+)([^<>]*+(?:<[^<>]*+>)?+)[^<>]*>")
_PARAMETER: Final = re.compile(r"(%[\w.$-]+): (\S)")
"""The types of pointers and descriptors begin with `!`."""
_INITIAL: Final = re.compile(r"(%[\w.$-]+) = (%[\w.$-]+)")
_LOOP: Final = re.compile(r"(%[\w.$-]+) = (%[\w.$-]+) to (%[\w.$-]+) step (%[\w.$-]+)")
_CONSTANT: Final = re.compile(r" (-?\d{1,18}) : i\d+$")
_FLOAT: Final = re.compile(r"b?f\d|tf32")
_SYMBOL: Final = re.compile(r'symbol = "(\w+)"')
_AXES: Final = "xyz"

_READS: Final = frozenset({"tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.atomic_rmw", "tt.atomic_cas"})
_WRITES: Final = frozenset({"tt.store", "tt.atomic_rmw", "tt.atomic_cas"}) | {
    f"tt.descriptor_{name}" for name in ("store", "scatter", "reduce")
}
_OVER_INPUTS: Final = frozenset({"tt.reduce", "tt.scan"})
"""Their regions run once for each input element."""
_LOOP_UNKNOWN: Final = "the number of iterations of a loop depends on values"


class ProgramWork(NamedTuple):
    """The work of one program instance, with blocks at their full size."""

    parameters: int
    """Number of parameters."""
    heavy: int
    """FLOPs of matmuls (`tl.dot`)."""
    scalar: int
    transcendental: int
    """The part of the scalar operations that is transcendental."""
    reads: frozenset[int]
    """Positions of the parameters that it loads from."""
    writes: frozenset[int]
    """Positions of the parameters that it stores to."""
    uncounted: str
    """Why the counts are too low; empty if they are right."""


class _Region:
    """Open braces, and what was counted in them."""

    def __init__(self, times: int | None, over: str = "") -> None:
        self.times = times
        """Number of iterations for each iteration of the enclosing region; None if not known."""
        self.over = over
        """The operation whose inputs decide that, which are stated at its end."""
        self.found = Operations(0, 0, 0)


def program_work(text: str, arguments: Sequence[int | None] = (), grid: Sequence[int | None] = ()) -> ProgramWork:
    """The work of the kernel in `text`; `arguments` are the launch's integer arguments, None for others."""
    return _Reader(arguments, grid).read(text)


class _Reader:
    def __init__(self, arguments: Sequence[int | None], grid: Sequence[int | None]) -> None:
        self._arguments = arguments
        self._grid = grid
        self._numbers: dict[str, int] = {}
        self._pointers: dict[str, int] = {}
        """Value → the parameters that it comes from, as bits: one operation may have thousands of operands."""
        self._parameters = self._reads = self._writes = 0
        self._uncounted = ""

    def read(self, text: str) -> ProgramWork:
        regions = [_Region(1)]
        for whole in text.splitlines():
            line = whole.strip()
            if len(line) > _LONGEST:
                self._uncounted = self._uncounted or "one of its lines is too long"
                continue
            if line.startswith("tt.func"):
                self._begin(line)
                regions.append(_Region(1))
                continue
            line = line.partition(" loc(")[0].rstrip()
            if line.startswith("}"):
                times = self._close(regions, line)
                if line.endswith("{"):  # else, do
                    regions.append(_Region(times))
                continue
            self._operation(line, regions)
        while len(regions) > 1:
            self._close(regions, "}")
        found = regions[0].found
        return ProgramWork(self._parameters, *found, _places(self._reads), _places(self._writes), self._uncounted)

    def _begin(self, line: str) -> None:
        """A function begins; the kernel is the only one, as its helpers are inlined."""
        for place, (name, kind) in enumerate(_PARAMETER.findall(line)[:_MOST_PARAMETERS]):
            if kind == "!":
                self._pointers[name] = 1 << place
            number = self._arguments[place] if place < len(self._arguments) else None
            if number is not None:
                self._numbers[name] = number
            self._parameters = place + 1

    def _operation(self, line: str, regions: list[_Region]) -> None:
        match = _OPERATION.match(line)
        if match is None:
            if line.endswith("{"):
                regions.append(_Region(1))
            return
        result, name, rest = match.groups()
        operands = _VALUE.findall(rest)
        self._follow(result, name, rest, operands)
        if name in NOT_COUNTED:
            self._uncounted = self._uncounted or NOT_COUNTED[name]
        if not line.endswith("{"):
            types = rest.rpartition(" : ")[2]
            symbol = _SYMBOL.search(rest)
            kind = rest.split(None, 1)[0].rstrip(",") if name == "tt.atomic_rmw" and rest.strip() else ""
            one = operations(symbol[1] if symbol else f"{name} {kind}".rstrip(), is_float=_is_float(types))
            if name == "tt.dot":
                one = one._replace(heavy=one.heavy * _depth(types))
            _add(regions[-1], one, _elements(types.rpartition("->")[2]))
        elif name == "scf.for":
            regions.append(_Region(self._turns(rest)))
        else:
            regions.append(_Region(1, name if name in _OVER_INPUTS else ""))

    def _follow(self, result: str | None, name: str, rest: str, operands: list[str]) -> None:
        """Track which parameter a pointer comes from, and which values are known."""
        if operands and name in _READS:
            self._reads |= self._pointers.get(operands[0], 0)
        if operands and name in _WRITES:
            self._writes |= self._pointers.get(operands[0], 0)
        if name == "scf.for":
            for inner, outer in _INITIAL.findall(rest.partition("iter_args(")[2]):
                self._pointers[inner] = self._pointers.get(outer, 0)
        if result is None or name in _READS:
            return
        for operand in operands:
            self._pointers[result] = self._pointers.get(result, 0) | self._pointers.get(operand, 0)
        number = self._number(name, rest, operands)
        if number is not None and abs(number) <= MOST:
            self._numbers[result] = number

    def _number(self, name: str, rest: str, operands: list[str]) -> int | None:
        if name == "arith.constant":
            match = _CONSTANT.search(rest)
            return int(match[1]) if match else None
        if name == "tt.get_num_programs":
            axis = _AXES.find(rest.strip()[:1])
            return self._grid[axis] if 0 <= axis < len(self._grid) else None
        known = [self._numbers[operand] for operand in operands if operand in self._numbers]
        return None if "tensor<" in rest or len(known) < len(operands) else _arithmetic(name, known)

    def _turns(self, rest: str) -> int | None:
        """Number of iterations of a loop; None if not known."""
        match = _LOOP.search(rest)
        first, last, step = (self._numbers.get(name) for name in match.groups()[1:]) if match else (None, None, None)
        if first is None or last is None or not step or step < 0:
            return None
        return max(0, -(-(last - first) // step))

    def _close(self, regions: list[_Region], line: str) -> int | None:
        """Close the innermost region; returns how often it ran."""
        if len(regions) == 1:
            return 1
        region = regions.pop()
        times = region.times
        if region.over:
            times = _elements(line.rpartition(" : ")[2])
        if times is None and any(region.found):
            self._uncounted = self._uncounted or _LOOP_UNKNOWN
        _add(regions[-1], region.found, times or 0)
        return region.times


def _places(bits: int) -> frozenset[int]:
    return frozenset(place for place in range(_MOST_PARAMETERS) if bits >> place & 1)


def _add(region: _Region, found: Operations, times: int) -> None:
    region.found = Operations(
        *(min(before + many * times, MOST) for before, many in zip(region.found, found, strict=True))
    )


def _arithmetic(name: str, values: list[int]) -> int | None:
    match name, values:
        case "arith.addi", [one, other]:
            return one + other
        case "arith.subi", [one, other]:
            return one - other
        case "arith.muli", [one, other]:
            return one * other
        case (("arith.divsi" | "arith.divui"), [one, other]) if one >= 0 and other > 0:
            return one // other
        case (("arith.remsi" | "arith.remui"), [one, other]) if one >= 0 and other > 0:
            return one % other
        case (("arith.minsi" | "arith.minui"), [one, other]):
            return min(one, other)
        case (("arith.maxsi" | "arith.maxui"), [one, other]):
            return max(one, other)
        case (("arith.extsi" | "arith.extui" | "arith.index_cast"), [one]):
            return one
    return None


def _elements(types: str) -> int:
    """Number of elements of the first tensor type; 1 if there is none."""
    count = 1
    for length in _lengths(types):
        count = min(count * length, MOST)
    return count


def _depth(types: str) -> int:
    """Length of a row of the first of two matrices."""
    return next(reversed(_lengths(types)), 0)


def _lengths(types: str) -> list[int]:
    """Lengths of the axes of the first tensor type."""
    match = _TENSOR.search(types)
    return [int(length[:19]) for length in match[1].split("x")[:-1]] if match else []


def _is_float(types: str) -> bool:
    """True if the last type is a float."""
    kinds = _TENSOR.findall(types)
    kind = kinds[-1][1] if kinds else types.replace("->", ",").rpartition(",")[2].strip()
    return _FLOAT.match(kind) is not None
