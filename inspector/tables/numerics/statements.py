"""The statements of kernels with a wrong result: which is wrong, and what each computed."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.numerics.statements import KernelStatements, StatementRow, grown
from inspect_compile.tables.columns import Column, cell, place_cell
from inspect_compile.tables.numerics.error_kinds import sentence
from inspect_compile.tables.parts import Request, limited
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import place_text

_DIGITS: Final = 9
_ALONE: Final = ("constant", "load", "index_expr", "to_dtype")
"""Operations whose value is not computed from others."""


def _number(text: str) -> str:
    """As many digits as float32 needs to be told from its neighbours."""
    return f"{float(text):.{_DIGITS}g}" if text else ""


COLUMNS: Final[tuple[Column[StatementRow], ...]] = (
    Column("line", lambda row: str(row.line), role="dim", right=True, drop=4),
    Column("statement", lambda row: cell(row.text, "bad" if row.is_wrong else ""), stretch=True, least=24, most=90),
    Column("node", lambda row: row.node, least=8, most=24, middle=True, drop=3),
    Column("value", lambda row: _number(row.value), right=True),
    Column("should be", lambda row: cell(_number(row.expected), "bad" if row.is_wrong else ""), right=True),
    Column("exact", lambda row: _number(row.exact), right=True, drop=2),
    Column("error", lambda row: "" if row.error is None else f"{row.error:.1e}", right=True, drop=2),
    Column("kind", lambda row: "" if row.kind is None else sentence(row.kind), most=60, optional=True, drop=3),
    Column("where", lambda row: place_cell(row.where), optional=True, drop=5),
)


def blamed_lines(row: KernelStatements) -> Iterator[StyledLine]:
    """Which statement of the kernel is wrong, in words."""
    found = row.blamed
    if found is None:
        why = row.reason or f"each computes its operation for the worst element of {row.node}"
        yield joined("its statements: ", (why, "dim"))
        for one in () if row.reason else grown(row):
            yield joined(f"  line {one.line}: ", (one.text, "strong"), f"  {sentence(one.kind)}" if one.kind else "")
        return
    place = f"  {found.node}{f' ({place_text(found.where)})' if found.where is not None else ''}" if found.node else ""
    yield joined(f"the statement, line {found.line} of {row.kernel}: ", (found.text, "alarm"), (place, "accent"))
    yield styled(f"  {_why(row, found)}")
    if row.why == "value" and row.kind is not None:
        yield styled(f"  {sentence(row.kind)}")


def _why(row: KernelStatements, found: StatementRow) -> str:
    if row.why == "value":
        operator = "" if found.operator in _ALONE else found.operator.removeprefix("reduction.")
        wanted = f"{operator} of its operands is" if operator else "it should be"
        return f"it is {_number(found.value)}; {wanted} {_number(found.expected)}"
    if row.why == "index":
        return f"its value is right, and stored in another place: element {row.element:,} of {row.buffer}"
    if row.why == "variable":
        return f"it stores a variable that belongs to no buffer, as element {row.element:,} of {row.buffer}"
    if row.why == "loop":
        return f"it ends at {float(found.value):,.0f}, and is to end at {float(found.expected):,.0f}"
    if row.why == "store":
        return f"it never stores element {row.element:,} of {row.buffer}"
    if row.why == "absent":
        return f"it is computed with another value instead of {found.node}, which no statement computes"
    return f"the statements up to it do what they were generated for, which is not what {found.node} is"


def statement_tables(request: Request, rows: list[KernelStatements]) -> Block:
    """What each statement computed, kernel by kernel."""
    parts: list[Block] = []
    for row in rows:
        lines = list(blamed_lines(row))
        if row.statements:
            lines.append(styled(f"in the iteration that stored element {row.element:,} of {row.buffer}:", "dim"))
        parts.append(Stack(lines, gap=False))
        if row.statements:
            parts.append(limited(COLUMNS, row.statements, request.limit, request.every("numerics")))
    return Stack(parts)
