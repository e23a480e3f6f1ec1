"""Every compile of a frame on one line, below the lines of the program that led to it."""

from typing import Final

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.frontend.call_tree import CompileRow, TreeLine, call_tree, compile_rows
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.facts import Frame, GraphBreak, Recompile
from inspect_compile.graph import gathered
from inspect_compile.tables.caches.lookup_text import outcome_word
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited, recorded_of_compiles
from inspect_compile.tables.styled_text import Block, heading, styled
from inspect_compile.tables.text import (
    exception_text,
    file_name,
    in_module,
    line_text,
    number_of,
    one_line,
    seconds_text,
)

_ROLES: Final = {"failed": "bad", "compiled": "good", "skipped": "warn", "not finished": "warn"}
_STEP: Final = "  "
_DEEPEST: Final = 24


def _tree(line: TreeLine) -> Cell:
    indent = _STEP * min(line.depth, _DEEPEST)
    if (row := line.compile) is not None:
        return (*cell(indent), *cell(_name(row), "name"))
    code = one_line(line.where[-1].code)
    places = " → ".join(map(line_text, line.where))
    return (*cell(f"{indent}{places}"), *cell(f"  {code}" if code else "", "dim"))


def _name(row: CompileRow) -> str:
    if not row.function:
        return "without a frame"
    place = f"{file_name(row.file)}:{row.line}"
    module = in_module(row.module)
    rest = resumed(row.function)
    if rest is not None:
        return f"{module}the rest of {one_line(rest[0])} from {file_name(row.file)}:{rest[1]} on"
    return f"{module}{one_line(row.function)}  {place}"


def _because(row: CompileRow) -> str:
    """Why it was not compiled, was needed, and was restarted; what torch explains further is in `dynamo`."""
    parts = []
    if row.status not in ("compiled", "no graph") and row.reason:
        parts.append(_briefly(exception_text(row.reason)))
    if row.again:
        parts.append(f"again, since {one_line('; '.join(row.again))}")
    if row.restarts:
        parts.append(f"restarted, since {'; '.join(dict.fromkeys(map(_briefly, row.restarts)))}")
    return "; ".join(parts)


def _briefly(reason: str) -> str:
    return one_line(reason).partition(" Explanation: ")[0]


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


COLUMNS: Final[tuple[Column[TreeLine], ...]] = (
    Column("called by", _tree, stretch=True, least=24, most=100),
    Column("id", lambda line: one_line(line.compile.graph) if line.compile else ""),
    Column(
        "became",
        lambda line: cell(line.compile.status, _ROLES.get(line.compile.status, "")) if line.compile else (),
    ),
    Column("time", lambda line: _seconds(line.compile), right=True),
    Column("graphs", lambda line: _count(line.compile.graphs) if line.compile else "", right=True, drop=2),
    Column("breaks", lambda line: _count(line.compile.breaks) if line.compile else "", right=True, optional=True),
    Column(
        "restarts",
        lambda line: _count(len(line.compile.restarts)) if line.compile else "",
        right=True,
        optional=True,
        drop=1,
    ),
    Column(
        "cache",
        lambda line: ", ".join(map(outcome_word, line.compile.caches)) if line.compile else "",
        optional=True,
        drop=1,
    ),
    Column(
        "because",
        lambda line: _because(line.compile) if line.compile else "",
        optional=True,
        stretch=True,
        least=20,
        most=120,
        wraps=True,
    ),
)


def _seconds(row: CompileRow | None) -> str:
    return "" if row is None or row.seconds is None else seconds_text(row.seconds)


def compiles(request: Request) -> Block:
    """The tree of calls, with the compiles of each frame below the lines that led to it."""
    rows = request.kept(compile_rows(request.graphs))
    if not rows:
        return styled(text_or_nothing(request.dump, "Dynamo compiled no frame"), "dim")
    became = {status: len(found) for status, found in gathered((row.status, row) for row in rows).items()}
    frames = len({(row.file, row.line, row.function) for row in rows})
    about = ", ".join(f"{count:,} {status}" for status, count in became.items())
    title = heading(f"{number_of(len(rows), 'compile')} of {number_of(frames, 'frame')}", about)
    return limited(COLUMNS, list(call_tree(rows)), request.limit, request.every("compiles"), title=title)


TABLE: Final = DeclaredTable(compiles, compile_rows, recorded_of_compiles(Frame, GraphBreak, Recompile))
