"""The checked launches with their errors and verdicts: what `inspect-compile numerics` found."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.numerics.coverage import uncompared
from inspect_compile.analysis.numerics.nonfinite import nonfinite_rows
from inspect_compile.analysis.numerics.statements import KernelStatements, kernel_statements
from inspect_compile.analysis.numerics.verdicts import Judged, Summary, judged, summary
from inspect_compile.facts import KeptInputs, LoadedLine
from inspect_compile.graph import Graphs, Id
from inspect_compile.knowledge.numerics.levels import AGAINST, AOT, DYNAMO_GRAPH, FUNCTION, level_text, made_wrong
from inspect_compile.knowledge.numerics.verdicts import (
    EXACT,
    NEARER,
    NOT_COMPARABLE,
    ROUNDING,
    VERDICTS,
    WORSE,
    WRONG,
)
from inspect_compile.tables.columns import Cell, Column, cell, place_cell
from inspect_compile.tables.numerics.causes import cause_lines
from inspect_compile.tables.numerics.coverage import uncompared_lines
from inspect_compile.tables.numerics.launching import launching_lines
from inspect_compile.tables.numerics.nonfinite import finding_lines
from inspect_compile.tables.numerics.statements import blamed_lines, statement_tables
from inspect_compile.tables.parts import DeclaredTable, Request, command, limited
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import number_of, place_text, seconds_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

ROLES: Final = {WRONG: "bad", WORSE: "warn", NOT_COMPARABLE: "dim", ROUNDING: "good", NEARER: "good", EXACT: "good"}
"""Verdict → role of its word."""
_KERNELS: Final = 3
"""Maximum number of kernels whose wrong statement is printed at the end of a run, and of values that eager alone has
NaN or Inf in.
"""
_REASONS: Final = 6
"""Maximum number of reasons that are listed."""


def _figure(value: float | None) -> str:
    return "" if value is None else "0" if value == 0 else f"{value:.2g}"


def _exactly(value: float | None) -> str:
    return "?" if value is None else f"{value:.6g}"


def _launch(row: Judged) -> str:
    return row.kernel or f"({level_text(row.level)})"


def _why(row: Judged) -> Cell:
    found = row.measured
    words = []
    if found.unstable:
        words.append(f"{found.unstable:,} of {found.elements:,} differ when it runs again on the same inputs")
    if row.verdict == NOT_COMPARABLE:
        return cell("; ".join([*words, row.reason]), "" if words else "dim")
    if found.mismatch:
        words.append(f"it is {found.mismatch}")
    if found.other_strides:
        words.append(found.other_strides)
    if found.is_mended:
        words.append("the compiled code's result is right")
    if found.exact_apart is not None:
        words.append(f"in fp64 the value differs by {_figure(found.exact_apart)} of it: rounding cannot do that")
    elif found.not_once is not None:
        words.append(f"{found.not_once:.0%} of its elements are not the exact value, which this kernel rounds once")
    elif found.apart is not None:
        words.append(f"at most {_figure(found.apart)} from eager's, which cannot be wrong")
    if found.nonfinite_wrong:
        words.append(f"{found.nonfinite_wrong:,} of {found.elements:,} are NaN or Inf and should not be, or should be")
    if found.eager_alone:
        words.append(_of_eager_alone(row))
    if found.untied:
        words.append(f"{found.untied:,} of {found.elements:,} differ, and rounding does not explain it")
    if found.worst_error and row.verdict in (WRONG, WORSE):
        values = f"{_exactly(found.compiled)}, eager {_exactly(found.eager)}, exact {_exactly(found.exact)}"
        words.append(f"at {list(found.worst)} {values}")
    if found.is_step and row.verdict in (WRONG, WORSE):
        words.append(f"a step of the lowering of {row.node}")
    if found.turn:
        words.append(f"the nested graph's run {found.turn:,}")
    if row.verdict == WRONG and found.source:
        words.append(f"{'the first wrong value is' if row.level == AOT else 'its edit begins at'} {_source(row)}")
    if row.verdict == WRONG and found.unforced:
        words.append(f"it reads {', '.join(found.unforced[:3])} as written, which could not be compared")
    return cell("; ".join(words))


def _of_eager_alone(row: Judged) -> str:
    """Who is right where eager alone has NaN or Inf."""
    found = row.measured
    right = ", the compiled code is right" if row.verdict == NEARER else ""
    values = "" if found.compiled is None else f": at {list(found.worst)} {_exactly(found.compiled)}"
    values += f", exact {_exactly(found.exact)}" if values else ""
    return f"eager alone gives NaN or Inf in {found.eager_alone:,} of {found.elements:,}{right}{values}"


def _source(row: Judged) -> str:
    """The node that is wrong first: of Dynamo's graph, or of the graph that a pass changed."""
    return f"{row.measured.source} ({row.measured.operator})"


COLUMNS: Final[tuple[Column[Judged], ...]] = (
    Column("call", lambda row: str(row.call) if row.call > 1 else "", role="dim", right=True, optional=True),
    Column("line", lambda row: str(row.line or ""), role="dim", right=True, drop=4),
    Column("launch", _launch, role="name", stretch=True, least=24, most=60, middle=True),
    Column("buffer", lambda row: row.buffer, role="dim", drop=3),
    Column("node", lambda row: row.node, stretch=True, least=10, most=30, middle=True),
    Column("verdict", lambda row: cell(row.verdict, ROLES[row.verdict])),
    Column("× rounding", lambda row: _figure(row.times_rounding), right=True),
    Column("ULP p50", lambda row: _figure(row.measured.ulp_median), right=True, drop=2),
    Column("p99", lambda row: _figure(row.measured.ulp_99), right=True, drop=2),
    Column("max", lambda row: _figure(row.measured.ulp_worst), right=True, drop=1),
    Column("RMSE", lambda row: _figure(row.measured.rmse), right=True, drop=1),
    Column("of eager", lambda row: _figure(row.measured.eager_rmse), right=True, drop=1),
    Column("where", lambda row: place_cell(row.where), optional=True, drop=5),
    Column("", _why, stretch=True, least=12, most=200, optional=True),
)


def numerics(request: Request) -> Block:
    """What each checked launch wrote, in the order of the calls."""
    tables: list[Block] = []
    for found in request.graphs:
        all_rows = judged(found)
        rows = [row for row in all_rows if all(name in _words(row) for name in request.names)]
        if rows:
            tables.append(request.sheet("numerics", found, COLUMNS, rows))
    whole = summary(request.graphs)
    if not whole.results and not whole.trouble:
        how = "nothing was checked: inspect-compile numerics SCRIPT checks each launch"
        asked = request.dump.run.numerics
        if asked is not None and asked.only_nonfinite:
            how = "no launch was checked; results were searched for NaN and Inf: see `show nonfinite`"
        return styled(text_or_nothing(request.dump, how), "dim")
    statements = [row for row in kernel_statements(request.graphs) if _concerns(row, request.names)]
    if request.names:
        tables.append(statement_tables(request, statements))
    else:
        wrong = [row for row in judged(request.graphs) if row.verdict == WRONG]
        if lines := list(_wrong_lines(request.dump, wrong, statements)):
            tables.append(Stack(lines, gap=False))
    if not request.names:
        notes = [*_eager_alone(request.graphs), *_other_strides(request.graphs)]
        tables += [Stack(notes, gap=False)] if notes else []
    fixes = cause_lines(request.graphs, request.dump_argument)
    missing = uncompared_lines(uncompared(request.graphs))
    return Stack([*tables, Stack([*summary_lines([whole]), *missing, *fixes], gap=False)])


def _concerns(row: KernelStatements, names: Sequence[str]) -> bool:
    return all(name in (row.kernel, row.buffer, row.node) for name in names)


def result_lines(rows: Iterable[Judged]) -> Iterator[str]:
    """One line for each checked result of a kernel, the worst verdict first."""
    order = list(VERDICTS)
    for row in sorted(rows, key=lambda row: order.index(row.verdict)):
        is_far = row.verdict in (WRONG, WORSE) and row.times_rounding
        times = f", {_figure(row.times_rounding)} × rounding" if is_far else ""
        again = ", not the same when it runs again" if row.measured.unstable else ""
        why = f": {row.reason}" if row.reason else ""
        call = f", call {row.call:,}" if row.call > 1 else ""
        said = f"{row.node or row.buffer}   {row.verdict}{why}{times}{again}"
        yield f"checked at output_code.py:{row.line}{call}   {said}"


def found(dumps: "Sequence[Dump]", sums: Sequence[Summary], dump_argument: str) -> Block:
    """What `inspect-compile numerics` prints: the wrong results of all processes, and what was covered."""
    lines: list[Block] = []
    for dump in dumps:
        wrong = [row for row in judged(Graphs(dump)) if row.verdict == WRONG or row.measured.unstable]
        if wrong:
            lines.append(limited(COLUMNS, wrong, 20, command(dump_argument, "numerics", "--all")))
        lines += _wrong_lines(dump, wrong, list(kernel_statements(Graphs(dump)))[:_KERNELS])
        lines += _eager_alone(Graphs(dump))
        lines += _other_strides(Graphs(dump))
    lines += summary_lines(sums)
    look = f"inspect-compile {command(unbroken(dump_argument), 'numerics')}"
    lines.append(joined("each launch: ", (look, "accent")))
    kept = [row for dump in dumps for row in dump.rows(KeptInputs) if row.file]
    again = f"inspect-compile numerics {unbroken(dump_argument)}"
    if any(row.index < 0 for row in kept):
        lines.append(joined("which setting fixes it: ", (f"{again} --causes", "accent")))
    if any(row.index >= 0 for row in kept):
        lines.append(joined("a script that reproduces it: ", (f"{again} -o repro.py", "accent")))
    return Stack(lines, gap=False)


def _eager_alone(graphs: "Graphs") -> Iterator[StyledLine]:
    """Where eager leaves the finite numbers, and the compiled code does not."""
    alone = [row for row in judged(graphs) if row.measured.eager_alone]
    if not alone:
        return
    first = next((row for row in alone if row.kernel), alone[0])
    name = first.node or first.buffer
    where = f" ({place_text(first.where)})" if first.where is not None else ""
    yield joined(("eager gives NaN or Inf: ", "strong"), f"{name}{where}: {_of_eager_alone(first)}")
    made = [row for row in nonfinite_rows(graphs) if row.of_node]
    for one in made[:_KERNELS]:
        yield from finding_lines(one)
    if len(made) > _KERNELS:
        yield styled(f"  {number_of(len(made) - _KERNELS, 'more value')} of eager's: show nonfinite", "dim")


def _other_strides(graphs: "Graphs") -> Iterator[StyledLine]:
    """Results whose elements are right and whose strides are not eager's: the first, and how many there are."""
    rows = [row for row in judged(graphs) if row.measured.other_strides]
    if rows:
        first = rows[0]
        more = f", and {number_of(len(rows) - 1, 'more result')}" if len(rows) > 1 else ""
        node = f", {first.node}" if first.node else ""
        yield joined(
            ("other strides than in eager: ", "strong"),
            f"{first.buffer} of {first.graph}{node}: {first.measured.other_strides}{more}; only a program that depends "
            "on strides sees that",
        )


def _wrong_lines(dump: "Dump", wrong: Sequence[Judged], statements: Sequence[KernelStatements]) -> Iterator[StyledLine]:
    """The lines of code that make results `wrong`, and the wrong ones among the `statements` of kernels."""
    named = [Id(row.graph, row.kernel) for row in statements if row.blamed is not None]
    yield from launching_lines(dump, [row for row in wrong if row.verdict == WRONG], named)
    for row in statements:
        yield from blamed_lines(row)


def _words(row: Judged) -> tuple[str, ...]:
    return row.kernel, row.buffer, row.node, row.verdict


def summary_lines(sums: Sequence[Summary]) -> Iterator[StyledLine]:
    """The first wrong result, and what was covered."""
    verdicts = {one: sum(found.verdicts.get(one, 0) for found in sums) for one in VERDICTS}
    first = next((found.first for found in sums if found.first is not None), None)
    if first is not None:
        where = f" ({place_text(first.where)})" if first.where is not None else ""
        if first.kernel:
            others = first.measured.unforced_of
            made = f"{first.kernel}, line {first.line} of {first.graph}"
            made += f", or {' or '.join(others)}, which wrote what it reads" if others else ""
        else:
            made = made_wrong(first.level, first.buffer, first.graph)
        node = _source(first) if first.measured.source else first.node
        yield styled(f"first wrong: {made}{', ' if node else ''}{node}{where}", "strong")
    unstable = next((found.first_unstable for found in sums if found.first_unstable is not None), None)
    if unstable is not None:
        where = f" ({place_text(unstable.where)})" if unstable.where is not None else ""
        words = (
            f"{unstable.kernel}, line {unstable.line} of {unstable.graph}, {unstable.node or unstable.buffer}{where}"
        )
        yield styled(f"first not deterministic: {words}", "strong")
    if any(found.repeated for found in sums):
        results = sum(found.unstable for found in sums)
        whole = sum(found.unstable_results for found in sums)
        again = f"{number_of(results, 'result')} of launches, and {number_of(whole, 'result')} of whole calls"
        yield styled(f"not bitwise equal on the same inputs: {again}")
    counts = ", ".join(f"{count:,} {name}" for name, count in verdicts.items() if count)
    compared, results = sum(found.compared for found in sums), sum(found.results for found in sums)
    launches, checked = sum(found.launches for found in sums), sum(found.checked_launches for found in sums)
    calls = number_of(sum(found.calls for found in sums), "call")
    took = seconds_text(sum(found.seconds for found in sums))
    yield styled(f"{calls} checked in {took}: {counts or 'nothing to compare'}")
    yield styled(f"compared: {compared:,} of {results:,} results, of {checked:,} of {launches:,} launches")
    for against in AGAINST:
        pairs = [found.graph_results[against] for found in sums if against in found.graph_results]
        if pairs:
            same, all_ = (sum(one) for one in zip(*pairs, strict=True))
            yield styled(f"compared with {against}: {same:,} of {all_:,} results of graphs")
    levels = {level for found in sums for level in found.graph_results}
    if DYNAMO_GRAPH in levels and FUNCTION not in levels:
        yield styled("the reference is Dynamo's graph; --eager also compares it with the program's own functions")
    continued = sum(found.continued for found in sums)
    if continued:
        yield styled(f"the program got the reference's results from {number_of(continued, 'checked call')}", "warn")
    for found in sums:
        for reason, count in found.not_continued.items():
            got = f"the program got the compiled code's results from {number_of(count, 'call')}"
            yield styled(f"{got}: {reason}", "warn")
    reasons: dict[str, int] = {}
    for each in sums:
        for reason, count in each.reasons.items():
            reasons[reason] = reasons.get(reason, 0) + count
    for reason, count in list(reasons.items())[:_REASONS]:
        yield styled(f"not compared: {count:,} × {reason}", "dim")
    if len(reasons) > _REASONS:
        yield styled(f"not compared: {sum(list(reasons.values())[_REASONS:]):,} for other reasons", "dim")
    for one in [call for each in sums for call in each.trouble][:_REASONS]:
        yield styled(f"not checked: {one.graph}, call {one.call}: {one.reason}", "dim")


def _rows(graphs: Graphs) -> Iterator[msgspec.Struct]:
    from inspect_compile.analysis.numerics.causes import causes

    yield from judged(graphs)
    yield from uncompared(graphs)
    yield from kernel_statements(graphs)
    yield from graphs.alone(LoadedLine)
    yield from graphs.alone(KeptInputs)
    yield from causes(graphs)


TABLE: Final = DeclaredTable(numerics, _rows)
