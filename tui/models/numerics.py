"""The checked launches in the order in which they ran, each with its error as a bar; what made NaN and Inf."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, nonfinite_rows
from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import NumericsRequest
from inspect_compile.knowledge.numerics.verdicts import EXACT, NOT_COMPARABLE, WORSE, WRONG
from inspect_compile.tables.columns import Column, cell, picked, used
from inspect_compile.tables.numerics.nonfinite import finding_lines
from inspect_compile.tables.numerics.numerics import COLUMNS, ROLES
from inspect_compile.tables.numerics.statements import blamed_lines
from inspect_compile.tables.numerics.story import result_story
from inspect_compile.tables.text import bar_text
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import Code, wrapped
from inspect_compile.tui.models.cost import launch_positions
from inspect_compile.tui.models.sheet import DETAILED, Panel, Row, Sheet, Shown, Subject, Table

NOT_CHECKED: Final = "Not checked. To check: inspect-compile numerics SCRIPT"
ALL_FINITE: Final = "No result of this graph had NaN or Inf."
NOTHING: Final = "No call of this graph was checked."

_INDENT: Final = 10
"""How far the second line of a text is indented, in columns."""
_LEAST, _MOST = 0.1, 1e7
"""Errors, as multiples of what rounding makes, at which the bar begins and is full: each column is a factor of ten."""


def error_bar(row: Judged) -> str:
    """How far a result is off, on a logarithmic scale; full where what is wrong is no distance."""
    if row.verdict in (EXACT, NOT_COMPARABLE):
        return ""
    if row.times_rounding is None:
        return bar_text(1.0 if row.verdict == WRONG else 0.0, _LONGEST)
    share = math.log(max(row.times_rounding, _LEAST) / _LEAST) / math.log(_MOST / _LEAST)
    return bar_text(min(share, 1.0), _LONGEST)


_LONGEST: Final = 8
_BAR: Final[Column[Judged]] = Column("error", lambda row: cell(error_bar(row), ROLES[row.verdict]), most=_LONGEST)
_PLACE: Final[Column[Judged]] = Column(
    "line", lambda row: "" if row.where is None else str(row.where.line), role="dim", right=True
)
_LEAST_WIDTHS: Final = {"launch": 12, "node": 7}
_DROPS: Final = {"node": 1, "× rounding": 2, "max": 3, "RMSE": 4, "": 5}


def _columns() -> tuple[Column[Judged], ...]:
    """Those of `show numerics` in another order, with the bar; what is left out is told below the rows."""
    shown = picked(COLUMNS, "call", "launch", "node", _PLACE, "verdict", _BAR, "× rounding", "max", "RMSE", "")
    return tuple(
        replace(
            column,
            least=_LEAST_WIDTHS.get(column.title, column.least),
            drop=_DROPS.get(column.title, 0),
            optional=column.title == "call",
        )
        for column in shown
    )


def numerics(dump: Dump, chain: Chain) -> Shown[Table]:
    """What a check of numerics found in the chain's graph."""
    found, first = list(judged(chain.compiled)), list(nonfinite_rows(chain.compiled))
    of = _Subjects(chain)
    details: dict[str, Callable[[int], Sheet]] = {}
    rows: list[Row] = []
    for finding in first:
        title, *more = finding_lines(finding)
        key = f"{finding.kind} of call {finding.call}" if finding.again else f"first {finding.kind} {finding.node}"
        rows.append(Row(key, (cell(title.plain, "bad"),), of.finding(finding), heading=True))
        details[rows[-1].key] = partial(_lines, title.plain, "bad", [*(line.plain for line in more), *_code(finding)])
    statements = {(one.graph, one.call, one.index, one.node): one for one in kernel_statements(chain.compiled)}
    columns = used(_columns(), found)
    for number, row in enumerate(found):
        rows.append(Row.of(columns, row, f"{row.call} {row.index} {row.buffer} {number}", of.result(row)))
        first_line, *texts = result_story(row)
        if (own := statements.get((row.graph, row.call, row.index, row.node))) is not None and row.verdict == WRONG:
            texts += [line.plain for line in blamed_lines(own)]
        details[rows[-1].key] = partial(_lines, first_line, ROLES[row.verdict], texts)
    wrong = next((at for at, row in enumerate(found, start=len(first)) if row.verdict == WRONG), 0)
    table = Table(columns, rows, header=bool(found))
    return Shown(table, _count(found), start=0 if first else wrong, empty=_empty(dump.run.numerics), details=details)


class _Subjects:
    """What rows stand for: the FX node that a launch wrote, or the launch where it wrote no node's value."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._positions = launch_positions(chain)

    def result(self, row: Judged) -> Subject | None:
        return self._of(row.graph, row.node, row.kernel, row.line)

    def finding(self, row: NonFiniteRow) -> Subject | None:
        return self._of(row.graph, row.node or row.came_in, row.kernel, row.line)

    def _of(self, graph: str, node: str, kernel: str, line: int | None) -> Subject | None:
        if node:
            return self._chain.of_node(graph, node)
        position = self._positions.get((self._chain.key(graph, kernel), line))
        return None if position is None else self._chain.of_launch(position, line)


def _count(rows: Sequence[Judged]) -> str:
    """How many results there are, and how many of them should be looked at."""
    if not rows:
        return ""
    bad = {word: sum(row.verdict == name for row in rows) for name, word in ((WRONG, "wrong"), (WORSE, "worse"))}
    words = [f"{count:,} {word}" for word, count in bad.items() if count]
    return f"{', '.join(words) or 'none wrong'} of {len(rows):,}"


def _empty(asked: NumericsRequest | None) -> str:
    if asked is None:
        return NOT_CHECKED
    return ALL_FINITE if asked.only_nonfinite else NOTHING


def _code(row: NonFiniteRow) -> Iterable[str]:
    return [f"  {row.where.code.strip()}"] if row.where is not None and row.where.code else []


def _lines(first: str, role: str, others: Sequence[str], width: int) -> Code:
    """Texts wrapped to a width in columns, the first in a role; what goes on is indented."""
    texts = [(first, role), *((text, "") for text in others)]
    fold = partial(wrapped, indent=_INDENT, hyphens=False)
    return Code([line for text, of in texts for line in fold(text, width, of)])


PANEL: Final = Panel(lambda dump, chain, _: numerics(dump, chain), detail=DETAILED)
