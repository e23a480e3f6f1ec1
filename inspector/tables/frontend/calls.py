"""The call path: which function passed which graph on, and which callable came back."""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.call_path import LATER, CallRow, call_rows
from inspect_compile.facts import Call, Frame
from inspect_compile.tables.columns import Cell, Column, Span
from inspect_compile.tables.parts import DeclaredTable, Request, first_of
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, joined, styled
from inspect_compile.tables.text import file_name, number_of, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


_DEEPEST: Final = 40
"""Maximum depth that is indented."""


class CallLine(NamedTuple):
    """One line of a call: the call itself, what came out of it, or a note."""

    text: Cell
    seconds: float | None = None


COLUMNS: Final[tuple[Column[CallLine], ...]] = (
    Column(
        "call(arguments), where it is defined → result",
        lambda line: line.text,
        stretch=True,
        least=30,
        most=200,
    ),
    Column("time", lambda line: seconds_text(line.seconds) if line.seconds is not None else "", right=True),
)


def calls(request: Request) -> Block:
    """One tree for each compile, from the backend to the callable that runs; callers are above their callees."""
    sheets: list[Block] = []
    for compile_id, made in call_rows(request.graphs).items():
        if kept := request.kept(made):
            shown, notes = first_of(kept, request.limit, request.every("calls"))
            lines = [line for row in shown for line in call_lines(row)]
            title = _title(request.dump, compile_id, len(kept))
            sheets.append(Table(COLUMNS, lines, title=title, notes=notes))
    if sheets:
        return Stack(sheets)
    names = " and ".join(request.names)
    nothing = f"no call of {names}" if names else text_or_nothing(request.dump, "no graph reached a backend")
    return styled(nothing, "dim")


def _title(dump: "Dump", compile_id: str, count: int) -> StyledLine:
    frame = next(iter(dump.rows_of_compile(Frame, compile_id or None)), None)
    place = f"{one_line(frame.function)}  {file_name(frame.file)}:{frame.line}" if frame is not None else ""
    return joined((compile_id or "without a frame", "strong"), f"  {place}  ", (number_of(count, "call"), "dim"))


def call_lines(row: CallRow) -> Iterator[CallLine]:
    """The lines of a call, indented by its depth."""
    margin = "  " * min(row.depth, _DEEPEST)
    if row.parent is None and row.stage == LATER:
        yield CallLine((Span("later, when the program first needs gradients:", "dim"),))
    words = f"{margin}{call_name(row)}({one_line(row.received)})"
    yield CallLine((Span(words), Span(f"  {one_line(row.defined)}", "dim")), row.seconds)
    margin += "    "
    if row.error is not None:
        yield CallLine((Span(f"{margin}→ {one_line(row.error)}", "bad"),))
    elif row.returned:
        yield CallLine((Span(f"{margin}→ {one_line(row.returned)}", "accent"),))
    if row.note:
        yield CallLine((Span(f"{margin}{one_line(row.note)}", "warn" if "cudagraphs off: " in row.note else "dim"),))


def call_name(call: Call) -> str:
    """The name of the call's function; a backend is marked as such."""
    return one_line(f"backend {call.function}" if call.stage == "backend" else call.function)


TABLE: Final = DeclaredTable(
    calls, lambda graphs: chain.from_iterable(call_rows(graphs).values()), lambda graphs: graphs.of_compiles(Call)
)
