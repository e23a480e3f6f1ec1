"""The widths of a table's columns in any number of columns of a terminal, and text that is cut to fit.

May not know rich's rendering or textual: the terminal and the app both draw what is laid out here.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from rich.cells import cell_len, set_cell_size

from inspect_compile.tables.columns import Cell, Column, Span
from inspect_compile.tables.text import FROM, OF, unbroken

GAP: Final = 2
"""Blank columns between two cells."""
UNLIMITED: Final = 1_000_000
"""Width of an output that is no screen: a file, a pipe."""

ENOUGH: Final = 400
"""Maximum characters of a cell that are used: no column is wider, and a cell may be very long."""


_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_LINES: Final = re.compile(r"[^\s:]+(:\d+(?: \d+)*)")
"""Lines of one file."""
_LEAST_FILE: Final = 8
"""A file's name that gets no more room before the numbers of its lines goes."""
_OPERATOR: Final = re.compile(
    r"(?:torch\.ops\.(?=\w+\.\w))?(?:aten|prims|\w+(?=\.\w+\.default$)|(?<=torch\.ops\.)\w+)\.(\w+)(?:\.\w+)?"
)
"""An operator as FX and the generated code write it: `aten.add.Tensor`, `torch.ops.mylib.mine.default`."""
_FUNCTION: Final = re.compile(r"(?:torch|_?operator|extern_kernels)(?:\.\w+)*\.(\w+)")
"""A function of torch's or of Python's: `torch._C._nn.linear`, `operator.getitem`, `extern_kernels.mm`."""
_KERNEL: Final = re.compile(r"(?:cpp|triton_[a-z]+)_fused_+([A-Za-z]\w*)")
"""What the names of most generated kernels begin with: `cpp_fused_add_mul_3`, `triton_poi_fused__softmax_1`."""
_LEAST_IN_PARTS: Final = 8
"""A text that gets no more room keeps its beginning alone."""
NARROWEST: Final = 4
"""What a column that stretches is shrunk to, if its title has room, before any column is left out for it."""
LEAST_NAME: Final = 16
"""The same for names, which are cut in the middle: `cpp_fus…e_0` says nothing."""


def is_unlimited(width: int) -> bool:
    """True if nothing is cut, wrapped or placed flush right."""
    return width >= UNLIMITED


def natural_widths(columns: Sequence[Column[Any]], rows: Sequence[Sequence[Cell]]) -> list[int]:
    """The width that each column would take if there were room for all of `rows`, at most the column's `most`."""
    widths = [cell_len(column.title) for column in columns]
    for cells in rows:
        for index, spans in enumerate(cells):
            widths[index] = max(widths[index], sum(cell_len(span.text[:ENOUGH]) for span in spans))
    return [min(width, column.most) for width, column in zip(widths, columns, strict=True)]


def widths_in(width: int, columns: Sequence[Column[Any]], natural: Sequence[int]) -> list[int]:
    """The width of each column in a table of `width`, 0 for one that is left out.

    Columns give way in the order of their `drop`, then those that stretch down to their titles, then the last ones. A
    column is there whole or not at all: only text that stretches is cut. What room is left is shared among those that
    stretch.
    """
    least = [max(column.least, cell_len(column.title)) if column.stretch else 0 for column in columns]
    sizes = [
        min(size, floor) if column.stretch else size
        for size, floor, column in zip(natural, least, columns, strict=True)
    ]
    for drop in sorted({column.drop for column in columns if column.drop}, reverse=True):
        if _total(sizes) <= width:
            break
        sizes = [0 if column.drop == drop else size for size, column in zip(sizes, columns, strict=True)]
    _shrink(sizes, columns, width)
    _leave_out(sizes, columns, width)
    left = width - _total(sizes)
    while left > 0:
        short = [index for index, column in enumerate(columns) if column.stretch and 0 < sizes[index] < natural[index]]
        if not short:
            break
        for index in short[:left]:
            more = min(max(1, left // len(short)), natural[index] - sizes[index])
            sizes[index] += more
            left -= more
    return sizes


def _shrink(sizes: list[int], columns: Sequence[Column[Any]], width: int) -> None:
    """Take from the widest of the columns that stretch, as far as their titles allow, until all fit. Names that are cut
    in the middle stay long enough to be told apart.
    """
    floors = [
        max(min(column.least, LEAST_NAME) if column.middle else NARROWEST, cell_len(column.title)) for column in columns
    ]
    over = _total(sizes) - width
    while over > 0:
        stretching = [index for index, one in enumerate(columns) if one.stretch and sizes[index] > floors[index]]
        if not stretching:
            return
        sizes[max(stretching, key=sizes.__getitem__)] -= 1
        over -= 1


def _leave_out(sizes: list[int], columns: Sequence[Column[Any]], width: int) -> None:
    """Leave out the last columns, whole, until the others fit. The first that stretches, or else the first, is kept and
    gets what room there is: it says what the row is.
    """
    there = [index for index, size in enumerate(sizes) if size]
    if not there:
        return
    kept = next((index for index in there if columns[index].stretch), there[0])
    for index in reversed(there):
        if _total(sizes) <= width:
            return
        if index != kept:
            sizes[index] = 0
    sizes[kept] = min(sizes[kept], max(width, 1))


def _total(sizes: Sequence[int]) -> int:
    used = [size for size in sizes if size]
    return sum(used) + GAP * max(0, len(used) - 1)


def fitted(spans: Sequence[Span], width: int, *, middle: bool = False) -> list[Span]:
    """`spans` cut to `width` columns, with `…` where something is left out; cleaned for the screen. A number is there
    whole or not at all.

    A file's name goes before the numbers of its lines: of `train.py:41 57` what is left are `:41 57`. Of an operator
    its name is kept: `aten.add.Tensor` becomes `aten.add`, then `add`; of a kernel what tells it from others:
    `cpp_fused_add_mul_relu_3` becomes `…add_mul_relu_3`.

    With `middle`, the span that is cut keeps its beginning and its end. Of `train.py:41 ← adam.py:414` the line of the
    library is kept, which rows differ by, and its number; of `softmax · model.py:9` what stands there, and the number.
    """
    if len(spans) == 1 and cell_len(spans[0].text[:ENOUGH]) > width:
        spans = [Span(_name(spans[0].text[:ENOUGH], width), spans[0].role)]
    if middle and len(spans) == 1 and cell_len(text := unbroken(spans[0].text)) > width > _LEAST_IN_PARTS:
        return [Span(_ends(text, width), spans[0].role)]
    spans = _below(spans, width)
    shown: list[Span] = []
    left = width
    for position, span in enumerate(spans):
        text = unbroken(span.text[: 4 * width + ENOUGH])
        size = cell_len(text)
        if size > left or (size == left and any(rest.text for rest in spans[position + 1 :])):
            cut = _ends(text, left) if middle and left > _LEAST_IN_PARTS else _start(text, left)
            shown.append(Span(cut if left > 0 else "", span.role))
            break
        shown.append(Span(text, span.role))
        left -= size
    return shown


def _name(text: str, width: int) -> str:
    """The longest form of an operator's name that fits; its shortest, if none does. Of a kernel's name what it does not
    have in common with most others. Any other text as it is.
    """
    if kernel := _KERNEL.fullmatch(text):
        return f"…{kernel[1]}"
    found = _OPERATOR.fullmatch(text) or _FUNCTION.fullmatch(text)
    if found is None:
        return text
    name = found[1]
    forms = (text, text.removeprefix("torch.ops."), text[: found.end(1)].removeprefix("torch.ops."), name)
    return next((form for form in forms if cell_len(form) <= width), name)


def _ends(text: str, width: int) -> str:
    """The beginning and the end of a text that is as long as `width`, or longer."""
    end = _end(text, width // 3)
    return f"{_beginning(text, width - cell_len(end) - 1)}{end}"


def _start(text: str, width: int) -> str:
    """The beginning of a text that is longer than `width`, or of the numbers of lines that it consists of."""
    cut = _beginning(text, width - 1)
    lines = _LINES.fullmatch(text)
    if lines is None or len(cut) > lines.start(1) + len(":…"):
        return cut
    numbers = lines[1]
    left = width - cell_len(numbers)
    if left >= _LEAST_FILE:
        return f"{_beginning(text, left - 1)}{numbers}"
    return numbers if cell_len(numbers) <= width else _beginning(numbers, width - 1)


def _beginning(text: str, width: int) -> str:
    """The first `width` columns of a text that is longer, and `…`."""
    kept = set_cell_size(text, max(0, width))
    cut = _cut_number(text, len(kept))
    return f"{kept if cut is None else text[: cut.start()]}…"


def _end(text: str, width: int) -> str:
    """The last `width` columns of a text that is longer."""
    kept = set_cell_size(text[::-1], max(0, width))[::-1]
    cut = _cut_number(text, len(text) - len(kept))
    return kept if cut is None else text[cut.end() :]


def _cut_number(text: str, at: int) -> re.Match[str] | None:
    """The number that would be cut there, and then look like another one."""
    near = _NUMBER.finditer(text, max(0, at - ENOUGH), at + ENOUGH)
    return next((found for found in near if found.start() < at < found.end()), None)


def _below(spans: Sequence[Span], width: int) -> Sequence[Span]:
    """Without the user's own line before the one line of a library that it leads to, if there is no room for both."""
    places = [place for place, span in enumerate(spans) if span.text.startswith(FROM)]
    most = 4 * width + ENOUGH
    if len(spans) == 1 and OF in (text := spans[0].text[:most]) and cell_len(text) > width:
        what, _, where = text.rpartition(OF)
        number = where.rpartition(":")[2]
        return [Span(f"{what} :{number}" if number.replace(" ", "").isdecimal() else text, spans[0].role)]
    if len(places) != 1 or not places[0] or sum(cell_len(span.text[:most]) for span in spans) <= width:
        return spans
    (place,) = places
    own, below = spans[place - 1], spans[place]
    what = own.text[:most].rpartition(OF)[0]
    before = [*spans[: place - 1], *([Span(what, own.role)] if what else [])]
    text = unbroken(below.text[:most] if before else below.text[:most].lstrip())
    left = width - sum(cell_len(span.text[:most]) for span in before)
    if cell_len(text) > left > 1:
        text = _ends(text, left) if left > _LEAST_IN_PARTS else f"…{_end(text, left - 1)}"
    return [*before, Span(text, below.role), *spans[place + 1 :]]
