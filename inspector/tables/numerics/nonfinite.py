"""Where NaN and Inf are made."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, nonfinite_rows
from inspect_compile.facts import NumericsCall, Operand
from inspect_compile.knowledge.numerics.formats import INF, LARGEST, NAN
from inspect_compile.tables.parts import Request, command, first_of
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.text import number_of, place_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_SHOWN: Final = 20
"""Maximum number of findings that the command prints."""
_TROUBLE: Final = 6
"""Maximum number of calls that are named because they were not looked at."""


def finding_lines(row: NonFiniteRow) -> Iterator[Text]:
    """What is known of one finding, line by line."""
    place = f" ({place_text(row.where)})" if row.where is not None else ""
    call = f"  {row.graph}, call {row.call:,}, result {row.output}"
    if row.came_in:
        yield joined((f"first {row.kind}", "bold red"), call)
        yield joined("  it came in: ", (row.came_in, "cyan"), f"{place}, an input of the graph, has it")
        return
    yield joined((f"first {row.kind}", "bold red"), f": {row.node or row.buffer}{place}", (call, "dim"))
    if row.element or row.value:
        least = f"; the largest {row.dtype} is {LARGEST[row.dtype]:.6g}" if _is_overflow(row) else ""
        yield joined(f"  {_element(row, row.node or row.buffer)} = {row.value}", _others(row), least)
    for one, where in zip(row.operands, row.operand_places, strict=True):
        yield joined("  of ", _operand(row, one), (f"  {place_text(where)}" if where is not None else "", "dim"))
    if not row.node:
        yield styled("  run node by node the graph has none here: the compiled code alone makes it")
    if row.kernel:
        line = f", line {row.line}" if row.line else ""
        yield joined("  in ", (row.kernel, "cyan"), line, (f": {row.statement}" if row.statement else "", "dim"))


def _is_overflow(row: NonFiniteRow) -> bool:
    return row.kind == INF and row.dtype in LARGEST and not any(one.has_inf for one in row.operands)


def _others(row: NonFiniteRow) -> str:
    return f", as {row.count:,} of {row.elements:,} elements" if row.count > 1 else ""


def _element(row: NonFiniteRow, name: str) -> str:
    return f"{name}[{', '.join(map(str, row.element))}]" if row.element else name


def _operand(row: NonFiniteRow, one: Operand) -> str:
    said = f"{_element(row, one.node)} = {_short(one.value)}" if one.value else one.node
    between = f"from {_short(one.smallest)} to {_short(one.largest)}" if one.smallest else "with nothing finite"
    has = [kind for kind, is_there in ((INF, one.has_inf), (NAN, one.has_nan)) if is_there]
    return f"{said}, {one.dtype} {between}{', with ' if has else ''}{' and '.join(has)}"


def _short(number: str) -> str:
    """Six digits of a number."""
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


def nonfinite(request: Request) -> RenderableType:
    """What made the first NaN and the first Inf of each graph."""
    rows = [
        row
        for row in nonfinite_rows(request.dump, request.graph)
        if all(name in (row.graph, row.kernel, row.node, row.buffer, row.came_in, row.kind) for name in request.names)
    ]
    if rows:
        return _stanzas(rows, request.limit, request.every("nonfinite"))
    how = "no NaN or Inf was found: inspect-compile numerics --nonfinite SCRIPT looks for them"
    return styled(text_or_nothing(request.dump, how), "dim")


def _stanzas(rows: Sequence[NonFiniteRow], limit: int | None, every: str) -> RenderableType:
    shown, notes = first_of(rows, limit, every)
    return Stack([line for row in shown for line in finding_lines(row)] + [*notes], gap=False)


def found(dumps: "Sequence[Dump]", dump_argument: str) -> RenderableType:
    """What `inspect-compile numerics --nonfinite` prints: the findings of all processes, and what was not looked at."""
    rows = [row for dump in dumps for row in nonfinite_rows(dump)]
    trouble = [call for dump in dumps for call in dump.rows(NumericsCall) if call.reason]
    lines: list[RenderableType] = []
    if rows:
        lines.append(_stanzas(rows, _SHOWN, command(dump_argument, "nonfinite", "--all")))
    else:
        lines.append(styled("no result of a compiled graph has NaN or Inf"))
    for call in trouble[:_TROUBLE]:
        lines.append(styled(f"not looked at: {call.graph}, call {call.call}: {call.reason}", "dim"))
    if len(trouble) > _TROUBLE:
        lines.append(styled(f"not looked at: {number_of(len(trouble) - _TROUBLE, 'more call')}", "dim"))
    if rows:
        look = f"inspect-compile {command(unbroken(dump_argument), 'nonfinite')}"
        lines.append(joined("what made them: ", (look, "cyan")))
    return Stack(lines, gap=False)
