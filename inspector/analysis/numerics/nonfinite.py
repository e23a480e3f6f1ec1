"""What made the first NaN, or Inf, of each graph: the launch, the statement in it, the FX node and the source line."""

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import FlaggedCalls, Kernel, Location, NonFinite, Operand
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.kernels.statements import Statements


class NonFiniteRow(msgspec.Struct, frozen=True, kw_only=True, tag_field="fact", tag="non_finite_row"):
    """The first NaN or the first Inf that reached a result of a graph. `show nonfinite --json` prints these."""

    graph: str
    call: int
    """In which call of the graph it came, from 1."""
    kind: str
    """NaN or Inf."""
    output: int
    """Which result of the graph has it, from 0; -1 in a check of launches."""
    of_node: str
    """In a check of launches: the FX node whose value has it in eager alone; empty otherwise."""
    of_where: Location | None
    """The source line of that node."""
    step: int
    """Of the recorder: in which step of the program, from 1; 0 for any other check."""
    again: bool
    """Of the recorder: an earlier call had it, too, and then some had not."""
    reason: str
    """Why nothing more is known; empty if it was looked for."""
    came_in: str
    """The graph's input that had it already; empty if it was made in the graph."""
    kernel: str
    """Whose launch wrote the first one; empty if it came in, or was not found."""
    line: int | None
    """Line number of that launch in output_code.py."""
    buffer: str
    node: str
    """The FX node that makes it; empty if the compiled code alone does."""
    where: Location | None
    """Its source line, or that of the input."""
    statement: str
    """The first statement of the kernel that computes the node; empty if it is not known, or has none."""
    statement_line: int | None
    """Its line number in the kernel's source."""
    element: tuple[int, ...]
    """The first element that has it: of the node's value, or of the buffer if there is no node."""
    value: str
    """nan, inf or -inf."""
    count: int
    """Number of elements that have it."""
    elements: int
    dtype: str
    operands: tuple[Operand, ...]
    """The tensors that the node was computed from."""
    operand_places: tuple[Location | None, ...]
    """Their source lines."""
    from_inf: str
    """For NaN, the operand that has Inf; empty if none has."""


def nonfinite_rows(graphs: Graphs) -> Iterator[NonFiniteRow]:
    """In the order in which they came."""
    for row in graphs.alone(NonFinite):
        known = CompiledGraph(graphs.dump, row.graph).statements
        text, line = _statement(graphs.dump, known, row)
        yield NonFiniteRow(
            graph=row.graph,
            call=row.call,
            kind=row.kind,
            output=row.output,
            of_node=row.of_node,
            of_where=known.line_of(row.graph, row.of_node) if row.of_node else None,
            step=row.step,
            again=row.again,
            reason=row.reason,
            came_in=row.came_in,
            kernel=row.kernel,
            line=row.line,
            buffer=row.buffer,
            node=row.node,
            where=known.line_of(row.graph, row.node or row.came_in),
            statement=text,
            statement_line=line,
            element=row.element,
            value=row.value,
            count=row.count,
            elements=row.elements,
            dtype=row.dtype,
            operands=row.operands,
            operand_places=tuple(known.line_of(row.graph, one.node) for one in row.operands),
            from_inf=row.from_inf,
        )


def flagged_calls(graphs: Graphs) -> list[FlaggedCalls]:
    """What the recorder has seen of each graph's calls."""
    return list({row.graph: row for row in graphs.alone(FlaggedCalls)}.values())


def nonfinite_facts(graphs: Graphs) -> Iterator[msgspec.Struct]:
    """What made each first NaN and Inf, then what the recorder has seen."""
    yield from nonfinite_rows(graphs)
    yield from flagged_calls(graphs)


def _statement(dump: Dump, statements: Statements, row: NonFinite) -> tuple[str, int | None]:
    """The statement that computes the node, in the kernel that was launched: of several the one with its operator."""
    kernel = next((one for one in dump.rows(Kernel, row.graph) if one.name == row.kernel), None)
    if kernel is None:
        return "", None
    found = [one for one in statements.of_all_calls(kernel) if row.node in one.nodes]
    by_name = [one for one in found if one.operator and one.operator == row.node.rstrip("0123456789").rstrip("_")]
    rows = by_name or [one for one in found if one.operator not in ("load", "store")]
    if not rows:
        return "", None
    # Operands are widened in statements of their own right before the one that computes.
    last = next((one for one, after in pairwise(rows) if after.line != one.line + 1), rows[-1])
    return last.text, last.line
