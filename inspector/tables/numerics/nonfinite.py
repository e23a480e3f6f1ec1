"""Where NaN and Inf are made."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, flagged_calls, nonfinite_facts, nonfinite_rows
from inspect_compile.facts import FlaggedCalls, NumericsCall, Operand
from inspect_compile.graph import Graphs, grouped
from inspect_compile.knowledge.numerics.formats import INF, LARGEST, NAN
from inspect_compile.tables.parts import DeclaredTable, Request, command, first_of
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import byte_text, number_of, place_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_SHOWN: Final = 20
"""Maximum number of findings that the command prints."""
_TROUBLE: Final = 6
"""Maximum number of calls that are named because they were not looked at."""


def finding_lines(row: NonFiniteRow, rank: str = "") -> Iterator[StyledLine]:
    """What is known of one finding, line by line; `rank` says of which rank, where there are several."""
    place = f" ({place_text(row.where)})" if row.where is not None else ""
    step = f"step {row.step:,}, " if row.step else ""
    call = f"  {row.graph}, {step}call {row.call:,}, result {row.output}"
    kind = joined((rank, "accent"), (f"{row.kind} again" if row.again else f"first {row.kind}", "alarm"))
    if row.reason:
        yield joined(kind, (call, "dim"))
        yield styled(f"  its cause is not known: {row.reason}")
        return
    if row.came_in:
        yield joined(kind, call)
        yield joined("  it came in: ", (row.came_in, "accent"), f"{place}, an input of the graph, has it")
        return
    if row.of_node:
        kind, call = joined((rank, "accent"), (f"eager's {row.kind}", "strong")), f"  {row.graph}, call {row.call:,}"
    yield joined(kind, f": {row.node or row.buffer}{place}", (call, "dim"))
    if row.element or row.value:
        least = f"; the largest {row.dtype} is {LARGEST[row.dtype]:.6g}" if _is_overflow(row) else ""
        yield joined(f"  {_element(row, row.node or row.buffer)} = {row.value}", _others(row), least)
    for one, where in zip(row.operands, row.operand_places, strict=True):
        yield joined("  of ", _operand(row, one), (f"  {place_text(where)}" if where is not None else "", "dim"))
    if row.of_node:
        reaches = f" ({place_text(row.of_where)})" if row.of_where is not None else ""
        yield styled(f"  it reaches {row.of_node}{reaches}, where the compiled code and the exact value are finite")
    if not row.node:
        yield styled("  run node by node, the graph has none here: only the compiled code makes it")
    if row.kernel:
        line = f", line {row.line}" if row.line else ""
        yield joined("  in ", (row.kernel, "accent"), line, (f": {row.statement}" if row.statement else "", "dim"))


def _is_overflow(row: NonFiniteRow) -> bool:
    is_made = not any(one.has_inf or _is_zero(one.value) for one in row.operands)
    return row.kind == INF and row.dtype in LARGEST and is_made  # of a zero it is a pole


def _others(row: NonFiniteRow) -> str:
    return f", as {row.count:,} of {row.elements:,} elements" if row.count > 1 else ""


def _element(row: NonFiniteRow, name: str) -> str:
    return f"{name}[{', '.join(map(str, row.element))}]" if row.element else name


def _operand(row: NonFiniteRow, one: Operand) -> str:
    said = f"{_element(row, one.node)} = {_short(one.value)}" if one.value else one.node
    between = f"from {_short(one.smallest)} to {_short(one.largest)}" if one.smallest else "with no finite value"
    has = [kind for kind, is_there in ((INF, one.has_inf), (NAN, one.has_nan)) if is_there]
    return f"{said}, {one.dtype} {between}{', with ' if has else ''}{' and '.join(has)}"


def _is_zero(number: str) -> bool:
    try:
        return float(number) == 0
    except ValueError:
        return False


def _short(number: str) -> str:
    """Six digits of a number."""
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


def nonfinite(request: Request) -> Block:
    """What made the first NaN and the first Inf of each graph."""
    rows = [
        row
        for row in nonfinite_rows(request.graphs)
        if all(name in (row.graph, row.kernel, row.node, row.buffer, row.came_in, row.kind) for name in request.names)
    ]
    flagged = [] if request.names else flagged_calls(request.graphs)
    if rows or flagged:
        labelled = [("", row) for row in rows]
        found = [_stanzas(labelled, request.limit, request.every("nonfinite"))] if rows else []
        return Stack([*found, *recorder_lines(flagged)], gap=False)
    how = "no NaN or Inf was found: inspect-compile numerics --nonfinite SCRIPT looks for them"
    return styled(text_or_nothing(request.dump, how), "dim")


def _stanzas(rows: Sequence[tuple[str, NonFiniteRow]], limit: int | None, every: str) -> Block:
    shown, notes = first_of(rows, limit, every)
    return Stack([line for rank, row in shown for line in finding_lines(row, rank)] + [*notes], gap=False)


def recorder_lines(rows: Sequence[FlaggedCalls]) -> Iterator[StyledLine]:
    """Which flags rose, what was kept in memory, and what could not have been examined."""
    calls = f"{number_of(sum(row.calls for row in rows), 'call')} of {number_of(len(rows), 'graph')}"
    if rows and not any(row.flagged for row in rows):
        yield styled(f"no NaN or Inf flag in {calls}")
    for row in rows:
        if row.flagged:
            last = f"; the last is call {row.last:,}" if row.flagged > 1 else ""
            had = f"{row.flagged:,} of {number_of(row.calls, 'call')} had NaN or Inf"
            yield joined((row.graph, "accent"), f": {had}, call {row.first:,} first{last}")
    for device in sorted({row.device for row in rows if row.kept_bytes}):
        kept = [row for row in rows if row.device == device and row.kept_bytes]
        most = ", ".join(
            f"{row.graph} {byte_text(row.kept_bytes)} for {number_of(row.kept_calls, 'call')}" for row in kept
        )
        yield styled(
            f"kept on {device} to examine a call: {byte_text(sum(row.kept_bytes for row in kept))} ({most})", "dim"
        )
    for row in rows:
        if row.calls > row.examinable:
            missed = f"{row.calls - row.examinable:,} of {number_of(row.calls, 'call')}"
            yield styled(f"could not be examined: {missed} of {row.graph}: {row.reason}", "dim")
        if row.waits:
            yield styled(
                f"{row.graph} waited {row.waits:,} times for its device, {row.waited_seconds:.3f} s in all", "dim"
            )


def _rank(dump: "Dump") -> str:
    """`rank 1: `; empty for a process that is no rank."""
    return "" if dump.run.rank is None else f"rank {dump.run.rank}: "


def found(dumps: "Sequence[Dump]", dump_argument: str) -> Block:
    """What `inspect-compile numerics --nonfinite` and `--recorder` print: the findings of all processes, and what was
    not looked at.
    """
    rows = [(_rank(dump), row) for dump in dumps for row in nonfinite_rows(Graphs(dump))]
    trouble = [(_rank(dump), call) for dump in dumps for call in dump.rows(NumericsCall) if call.reason]
    flagged = [(_rank(dump), row) for dump in dumps for row in flagged_calls(Graphs(dump))]
    lines: list[Block] = []
    if rows:
        lines.append(_stanzas(rows, _SHOWN, command(dump_argument, "nonfinite", "--all")))
    elif not any(row.flagged for _, row in flagged):
        lines.append(styled("no result of a compiled graph has NaN or Inf"))
    for rank, of_rank in grouped(flagged, lambda pair: pair[0]).items():
        lines += [joined((rank, "accent"), line) for line in recorder_lines([row for _, row in of_rank])]
    for rank, call in trouble[:_TROUBLE]:
        lines.append(styled(f"{rank}not checked: {call.graph}, call {call.call}: {call.reason}", "dim"))
    if len(trouble) > _TROUBLE:
        lines.append(styled(f"not checked: {number_of(len(trouble) - _TROUBLE, 'more call')}", "dim"))
    if rows:
        look = f"inspect-compile {command(unbroken(dump_argument), 'nonfinite')}"
        lines.append(joined("what made them: ", (look, "accent")))
    return Stack(lines, gap=False)


TABLE: Final = DeclaredTable(nonfinite, nonfinite_facts)
