"""The call path: which function passed which graph on, and which callable came back."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.call_path import LATER, Called, compiles, tree
from inspect_compile.analysis.lookup.row_filter import matches
from inspect_compile.facts import Call, Frame
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import file_name, number_of, one_line, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("call(what went in), and where it is defined → what came out", cap=1.0, flex=True),
    Column("time", right=True),
)


def calls(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One tree for each compile, from the backend to the callable that runs; callers are above their callees."""
    found = compiles(dump)
    if graph is not None:
        wanted = {one.compile_id or "" for one in graphs_of(dump, graph)}
        found = {compile_id: made for compile_id, made in found.items() if compile_id in wanted}
    sheets: list[RenderableType] = []
    for compile_id, made in found.items():
        kept = [called for called in tree(made) if matches(called.call, names)]
        if not kept:
            continue
        shown = kept if limit is None else kept[:limit]
        rows = [row for called in shown for row in _rows(called)]
        notes: list[Cell] = []
        if len(kept) > len(shown):
            notes.append(more(len(kept) - len(shown), command(dump_argument, "calls", *names, "--all")))
        sheets.append(Sheet(_COLUMNS, rows, title=_title(dump, compile_id, len(kept)), notes=notes))
    nothing = f"no call of {' and '.join(names)}" if names else text_or_nothing(dump, "no graph reached a backend")
    return Stack(sheets or [styled(nothing, style="dim")])


def _title(dump: "Dump", compile_id: str, count: int) -> Text:
    frame = next(iter(dump.rows_of_compile(Frame, compile_id or None)), None)
    told = f"{one_line(frame.function)}  {file_name(frame.file)}:{frame.line}" if frame is not None else ""
    return joined((compile_id or "without a frame", "bold"), f"  {told}  ", (number_of(count, "call"), "dim"))


def _rows(called: Called) -> list[list[Cell]]:
    call, margin = called.call, "  " * called.depth
    rows: list[list[Cell]] = []
    if call.parent is None and call.stage == LATER:
        rows.append([styled("later, when the program first needs gradients:", "dim"), ""])
    words = f"{call_name(call)}({one_line(call.received)})"
    rows.append([joined(margin, words, (f"  {one_line(call.defined)}", "dim")), seconds_text(call.seconds)])
    margin += "    "
    if call.error is not None:
        rows.append([joined(margin, (f"→ {one_line(call.error)}", "red")), ""])
    elif call.returned:
        rows.append([joined(margin, (f"→ {one_line(call.returned)}", "cyan")), ""])
    if call.note:
        rows.append([joined(margin, (one_line(call.note), "yellow" if "cudagraphs off: " in call.note else "dim")), ""])
    return rows


def call_name(call: Call) -> str:
    """The name of the call's function; a backend is marked as such."""
    return one_line(f"backend {call.function}" if call.stage == "backend" else call.function)
