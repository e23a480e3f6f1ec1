"""A Triton kernel that writes out the values of its statements for one element, and stores nothing else.

The text is that of the kernel with calls added after its statements: what they compute stays as it was. Plain texts in
and out; imports neither torch nor triton.
"""

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.codegen.numerics.probed_source import STORE, VALUE, Point

ROW: Final = "r0_index"
"""The variable along which a kernel reduces."""
_AXES: Final = ("xindex", "yindex")
_VALUE: Final = re.compile(r"^\s+(tmp\d+) = ")
_BLOCKS: Final = re.compile(r"^\s+(\w+) ?: ?tl\.constexpr = (\d+)$")
_SIZE: Final = re.compile(r"^\s+(\w+numel) = (\d+)$")
_PART: Final = re.compile(r"^\s+(?:el)?if pid (?:< num_xblocks_\d+|% \d+ == \d+):$")
"""A part of a combo kernel begins: the programs of the grid are dealt out to the parts, one part after the other or in
turn.
"""
_STORES: Final = ("store", "atomic_add", "atomic_max", "atomic_min")
_LOADS: Final = ("load",)
_NOT_UNDERSTOOD: Final = (
    "zindex",
    "r1_index",
    "RSPLIT",
    "tl.make_block_ptr",
    "make_tensor_descriptor",
    "tl.inline_asm",
    " return",
)
"""Texts of kernels in other forms."""

HELPERS: Final = """
@triton.jit
def ic_put(to, value, index, pick):
    tl.store(to + index * 0, value.to(tl.float64) + (index * 0).to(tl.float64), pick)


@triton.jit
def ic_put_row(to, value, index, row, pick, rows):
    place = index * 0 + row
    tl.store(to + place, value.to(tl.float64) + (place * 0).to(tl.float64), pick & (place < rows))


@triton.jit
def ic_stored(to, place, x, y, row, mask):
    mask = mask != 0
    tl.atomic_add(to + place * 0, place * 0 + 1, mask)
    tl.store(to + 1 + place * 0, place * 0 + x, mask)
    tl.store(to + 2 + place * 0, place * 0 + y, mask)
    tl.store(to + 3 + place * 0, place * 0 + row, mask)
"""


@dataclass
class ProbedTriton:
    """A source with calls, and where they are."""

    text: str = ""
    name: str = ""
    parameters: list[str] = field(default_factory=list)
    """Of the kernel, without those that Triton compiles in."""
    constants: list[str] = field(default_factory=list)
    """Those that it compiles in: XBLOCK."""
    parts: list[dict[str, int]] = field(default_factory=list)
    """Sizes of blocks and of axes that are in the source: of each part of a combo kernel; any other has one part."""
    axes: tuple[str, ...] = ()
    """The indices of elements that it has: xindex, yindex."""
    reduces: bool = False
    points: list[Point] = field(default_factory=list)
    """`nest` is the number of the part that each is in, from 1."""
    in_rows: set[int] = field(default_factory=set)
    """Positions of points that have a value for each element of a row."""
    pointers: dict[int, str] = field(default_factory=dict)
    """Position of a point that stores → the pointer."""


def probed_triton(source: str) -> ProbedTriton | None:
    """The kernel with more arguments: `ic_values` (float64, a row for each point), `ic_place` (int64, 4), `ic_rows`,
    `ic_x` and `ic_y` (the indices whose values are written), `ic_store` (position of the point that stores) and
    `ic_element` (what it stores, counted from its pointer). None for a kernel in another form.

    `ic_place` gets how often the point stores the element, and its x, y and row.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    if len(functions) != 1 or any(word in source for word in _NOT_UNDERSTOOD):
        return None
    function, lines = functions[0], source.splitlines()
    found = ProbedTriton(name=function.name)
    for one in function.args.args:
        (found.parameters if one.annotation is None else found.constants).append(one.arg)
    common: dict[str, int] = {}
    for line in lines:
        if _PART.match(line):
            found.parts.append(dict(common))
        elif fixed := _BLOCKS.match(line) or _SIZE.match(line):
            (found.parts[-1] if found.parts else common)[fixed[1]] = int(fixed[2])
    found.parts = found.parts or [common]
    found.axes = tuple(axis for axis in _AXES if any(line.strip().startswith(f"{axis} = ") for line in lines))
    found.reduces = any(line.strip().startswith(f"{ROW} = ") for line in lines)
    if not found.axes or (len(found.parts) > 1 and "yindex" in found.axes):
        return None
    added = "ic_values, ic_place, ic_rows, ic_x, ic_y, ic_store, ic_element"
    named = ", ".join([*found.parameters, added, *(f"{name}: tl.constexpr" for name in found.constants)])
    body = function.body[0].lineno - 1
    text = [f"def {found.name}({named}):", *_with_calls(lines, body, found)]
    found.text = "\n".join(text) + "\n"
    return found if found.pointers and set(found.parameters).issuperset(found.pointers.values()) else None


def _with_calls(lines: Sequence[str], first: int, found: ProbedTriton) -> Iterator[str]:
    row_indent: int | None = None
    """How far in the row's index was set, if it still holds."""
    part = 0
    """Number of the part of a combo kernel, from 1; 0 before the first."""
    for number, line in enumerate(lines[first:], first + 1):
        indent = line[: len(line) - len(line.lstrip())]
        if _PART.match(line):
            part += 1
        if line.strip().startswith(f"{ROW} = "):
            row_indent = len(indent)
        elif row_indent is not None and line.strip() and len(indent) < row_indent:
            row_indent = None
        row = ROW if row_indent is not None else ""
        store = _stored(line)
        if store is None:
            yield line
            if value := _VALUE.match(line):
                found.in_rows.update([len(found.points)] if row else ())
                yield indent + _put(len(found.points), value[1], found, row)
                found.points.append(Point(number, VALUE, value[1], max(part, 1), 0, line.strip()))
            continue
        pointer, index, name, mask = store
        yield indent + _where(len(found.points), index, mask, found, row)
        found.pointers[len(found.points)] = pointer
        found.points.append(Point(number, STORE, name, max(part, 1), 0, line.strip()))


def _put(position: int, name: str, found: ProbedTriton, row: str) -> str:
    """The call that writes a variable's value out."""
    to, index, pick = f"ic_values + {position} * ic_rows", _zero(found), _pick(found)
    if row:
        return f"ic_put_row({to}, {name}, {index}, {row}, {pick}, ic_rows)"
    return f"ic_put({to}, {name}, {index}, {pick})"


def _where(position: int, index: str, mask: str, found: ProbedTriton, row: str) -> str:
    """The call that tells which element is stored where it is asked for."""
    place = f"({index}) + ({_zero(found)})" + (f" + {row} * 0" if row else "")
    x, y = "xindex", "yindex" if "yindex" in found.axes else "0"
    is_it = f"({place} == ic_element) & (ic_store == {position})" + (f" & ({mask})" if mask != "None" else "")
    return f"ic_stored(ic_place, {place}, {x}, {y}, {row or '0'}, {is_it})"


def _zero(found: ProbedTriton) -> str:
    return " + ".join(f"{axis} * 0" for axis in found.axes)


def _pick(found: ProbedTriton) -> str:
    return " & ".join(f"({axis} == ic_{axis[0]})" for axis in found.axes)


@functools.lru_cache(maxsize=4096)
def masked_by(statement: str) -> tuple[str, ...]:
    """The variables in the mask of a statement that loads; none if it has no mask, or loads nothing."""
    call = _call(statement, _LOADS) if "tl.load(" in statement else None
    if call is None or len(call.args) < 2:
        return ()
    return tuple(one.id for one in ast.walk(call.args[1]) if isinstance(one, ast.Name) and one.id.startswith("tmp"))


def _stored(line: str) -> tuple[str, str, str, str] | None:
    """Of a statement that stores: the pointer, the index from there on, the variable, the mask. None for any other."""
    call = _call(line, _STORES) if "tl.store(" in line or "tl.atomic_" in line else None
    if call is None or len(call.args) < 2:
        return None
    where, value = call.args[:2]
    if not isinstance(where, ast.BinOp) or not isinstance(where.op, ast.Add) or not isinstance(where.left, ast.Name):
        return None
    mask = ast.unparse(call.args[2]) if len(call.args) > 2 else "None"
    return where.left.id, ast.unparse(where.right), ast.unparse(value), mask


def _call(line: str, names: Sequence[str]) -> ast.Call | None:
    """The outermost call of one of these functions of Triton's; None if there is none."""
    try:
        tree = ast.parse(line.strip())
    except SyntaxError:
        return None
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Call))
    return next((one for one in calls if getattr(one.func, "attr", "") in names), None)
