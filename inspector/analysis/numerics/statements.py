"""The statements of kernels with a wrong result, each with its values, FX node and source line."""

import math
from collections.abc import Iterator
from typing import Final

import msgspec

from inspect_compile.analysis.numerics.error_kinds import ErrorKind, of_right, of_wrong
from inspect_compile.facts import Kernel, Location, Operation, StatementsOf, StatementValue
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.kernels.statements import Annotated, Statements
from inspect_compile.knowledge.kernels.statement_forms import assigned
from inspect_compile.knowledge.numerics import error_kinds as kinds

_GROWN: Final = 3
_OF_WHOLE: Final = {
    "loop": ErrorKind(kind=kinds.LEFT_OUT),
    "store": ErrorKind(kind=kinds.NOT_WRITTEN),
    "index": ErrorKind(kind=kinds.STORED_ELSEWHERE),
    "variable": ErrorKind(kind=kinds.OTHER_VARIABLE),
    "node": ErrorKind(kind=kinds.OTHER_NODE),
    "absent": ErrorKind(kind=kinds.OTHER_NODE),
}
"""What is wrong with a statement → the kind that this is; that of a wrong value is found from the values."""


class StatementRow(msgspec.Struct, frozen=True, kw_only=True):
    """One statement in the iteration that stored the wrong element. Numbers are texts: JSON has no NaN."""

    line: int
    """Line number in the kernel's source, from 1."""
    text: str
    operator: str
    """The operation of torch's loop body; empty if it has none."""
    node: str
    where: Location | None
    value: str
    """What the kernel computed."""
    expected: str
    """The operation, in fp64, of the kernel's values; empty if it is not known, here and below."""
    exact: str
    """The same where nothing was rounded since the loads."""
    error: float | None
    """How far `value` is from `exact`, as a part of that."""
    is_wrong: bool
    kind: ErrorKind | None = None
    """What kind of error it makes, or makes larger; None if there is nothing to say."""


class KernelStatements(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="kernel_statements"):
    """The statements of one launch with a wrong result. `show numerics --json` prints these after the results."""

    graph: str
    call: int
    index: int
    """Position of the launch in the call."""
    kernel: str
    buffer: str
    """The buffer whose element was looked at."""
    element: int
    """Its position in the buffer's memory."""
    node: str
    """The FX node of the wrong result."""
    blamed: StatementRow | None
    """The statement that is wrong; None if each computes its operation, or their values are not known. Its node is the
    one that is not computed, if `why` is absent.
    """
    why: str
    """What is wrong with it: value, index, variable, store, loop, node or absent."""
    kind: ErrorKind | None = None
    """What kind of error it makes. If no statement is wrong, None."""
    reason: str
    """Why the values are not known; empty if they are."""
    statements: tuple[StatementRow, ...]


def kernel_statements(graphs: Graphs) -> Iterator[KernelStatements]:
    """In the order in which the launches ran."""
    return (_read(CompiledGraph(graphs.dump, row.graph), row) for row in graphs.alone(StatementsOf))


def grown(row: KernelStatements) -> list[StatementRow]:
    """The statements, each right, that make errors or make them larger in a known way; the largest errors first."""
    found = [one for one in row.statements if one.kind is not None and not one.is_wrong]
    return sorted(found, key=lambda one: -(one.error or 0.0))[:_GROWN]


def _read(graph: CompiledGraph, row: StatementsOf) -> KernelStatements:
    statements = graph.statements
    kernel = next((one for one in graph.rows(Kernel) if one.name == row.kernel), None)
    makers = [one.name for one in graph.rows(Operation) if row.buffer in one.buffers]
    source = {} if kernel is None else {one.line: one for one in statements.all_annotated(kernel, makers)}
    text = graph.text(kernel.source) if kernel is not None and kernel.source else None
    lines = (text or "").splitlines()
    rows: list[StatementRow] = []
    known: dict[str, StatementValue] = {}
    for one in row.statements:
        read = _row(statements, row.graph, one.line, lines, source.get(one.line), one)
        rows.append(msgspec.structs.replace(read, kind=_kind(one, read, known)))
        known.update(dict.fromkeys(assigned(read.text), one))
    blamed = next((one for one in rows if one.line == row.blamed), None)
    if blamed is None and row.blamed is not None:
        blamed = _row(statements, row.graph, row.blamed, lines, source.get(row.blamed), None)
    if blamed is not None and row.absent:
        where = statements.line_of(row.graph, row.absent)
        blamed = msgspec.structs.replace(blamed, node=row.absent, where=where)
    return KernelStatements(
        graph=row.graph,
        call=row.call,
        index=row.index,
        kernel=row.kernel,
        buffer=row.buffer,
        element=row.element,
        node=row.node,
        blamed=blamed,
        why=row.why,
        kind=_OF_WHOLE.get(row.why) or (None if blamed is None else blamed.kind),
        reason=row.reason,
        statements=tuple(rows),
    )


def _kind(row: StatementValue, read: StatementRow, known: dict[str, StatementValue]) -> ErrorKind | None:
    if row.operator == "loop":
        return _OF_WHOLE["loop"]
    if not row.value or not row.expected:
        return None
    return of_wrong(row, read.text) if row.is_wrong else of_right(row, read.error, known)


def _row(
    statements: Statements,
    graph: str,
    line: int,
    lines: list[str],
    annotated: Annotated | None,
    found: StatementValue | None,
) -> StatementRow:
    # The kernel may be launched for several groups of operations: the annotation is of the group that was launched.
    nodes = annotated.nodes if annotated is not None else ()
    node = nodes[0] if nodes else found.node if found is not None else ""
    value, exact = (found.value, found.exact) if found is not None else ("", "")
    return StatementRow(
        line=line,
        text=lines[line - 1].strip() if 0 < line <= len(lines) else "",
        operator=found.operator if found is not None else "",
        node=node,
        where=statements.line_of(graph, node),
        value=value,
        expected=found.expected if found is not None else "",
        exact=exact,
        error=_error(value, exact),
        is_wrong=found.is_wrong if found is not None else False,
    )


def _error(value: str, exact: str) -> float | None:
    try:
        one, other = float(value), float(exact)
    except ValueError:
        return None
    if not (math.isfinite(one) and math.isfinite(other)):
        return None
    return abs(one - other) / abs(other) if other else abs(one)
