"""Everything that was missed, lost or odd, the most expensive first: what, where, what it costs, why, what to do."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.analysis.dumps.nothing import nothing, nothing_text
from inspect_compile.analysis.findings.finding import EACH_CALL, EACH_STEP, ONCE, Finding
from inspect_compile.analysis.findings.kept import findings_of
from inspect_compile.analysis.overview.looked_for import KindLookedFor, looked_for
from inspect_compile.graph import Graphs, ShortNames, few, outermost
from inspect_compile.knowledge.cost.sure import ENOUGH_CALLS, MEASURED, NOT_KNOWN, TIMED
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.overview import finding_kinds
from inspect_compile.knowledge.overview import findings as kinds
from inspect_compile.tables.columns import Cell, Column, Span, cell, plain
from inspect_compile.tables.fusion.why_text import part_cell
from inspect_compile.tables.options import KINDS
from inspect_compile.tables.parts import DeclaredTable, Request, command, more, why_command
from inspect_compile.tables.styled_text import Block, Claim, Stack, StyledLine, Table, joined, styled
from inspect_compile.tables.text import byte_text, code_text, number_of, one_line, share_text, time_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Location

_MOST_BUFFERS: Final = 3
_NOT_KNOWN: Final = "bytes only, no time estimate"
_WHEN: Final = {ONCE: "of compiling", EACH_CALL: "a call", EACH_STEP: "a step"}


def cost_text(found: Finding) -> str:
    """`1.1 s of compiling`, `12 µs a call (131 kB)`, `≤ 131 kB a call`."""
    most = "≤ " * found.is_bound
    if found.kind in (kinds.NUMERICS, kinds.FAILED):
        return "wrong" if found.kind == kinds.NUMERICS else "failed"
    if found.seconds is not None:
        time = f"{most}{time_text(found.seconds)} {_WHEN[found.when]}"
        if found.share is not None:
            return f"{time} ({share_text(found.share, 0)})"
        return time if found.bytes is None else f"{time} ({byte_text(found.bytes)})"
    if found.bytes is None:
        return ""
    if found.kind == kinds.MEMORY:
        return f"{byte_text(found.bytes)} of the peak"
    return f"{most}{byte_text(found.bytes)} a call"


def sure_text(found: Finding) -> str:
    """How the cost is known, and on how many calls it rests."""
    if found.kind in (kinds.FAILED, kinds.BREAK):
        return "recorded; what it costs in time is not measured" if found.kind == kinds.BREAK else "recorded"
    if found.kind == kinds.TUNED:
        return f"measured: {number_of(found.calls or 1, 'run')} with it, each beside one without it"
    if found.when == EACH_STEP and found.sure in (MEASURED, TIMED):
        return f"measured: the mean of {number_of(found.calls or 1, 'profiled step')}"
    if found.sure == MEASURED:
        return "measured" if found.calls is None else f"measured: the median of {number_of(found.calls, 'call')}"
    if found.sure == TIMED:
        return f"timed in {number_of(found.calls or 1, 'call')} only: {ENOUGH_CALLS} make a median to rely on"
    if found.sure == NOT_KNOWN:
        return _NOT_KNOWN
    return f"estimated: {finding_kinds.ESTIMATES.get(found.kind, finding_kinds.BY_BYTES)}"


def places_cell(found: Finding) -> Cell:
    """`softmax · model.py:9 × amax · model.py:11`: what a library does is dimmed."""
    spans: list[Span] = []
    for part in found.parts:
        spans += [*cell(" × " if spans else "", "dim"), *part_cell(part)]
    return tuple(spans)


def source_line_text(where: "Location | None") -> str:
    """What is written in the user's own line, or in the library's if none is known."""
    own = None if where is None else own_line(where)
    return code_text(own or where)


def to_do_text(found: Finding) -> str:
    """What to change in the program; a setting with what trying it showed."""
    torchs = "torch says, not tried: " * found.is_torchs
    words = [f"{torchs}{one_line(found.to_do)}"] if found.to_do else []
    if found.instead:
        words.append(f"or better: {one_line(found.instead)}")
    if found.knob:
        trial = found.trial
        if trial is None:
            words.append(f"the setting {one_line(found.knob)} may change it: not tried")
        elif trial.is_changed:
            kernels, moved = trial.kernels, trial.moved
            change = f"{kernels[0]:,} → {number_of(kernels[1], 'kernel')}"
            change += f", {byte_text(moved[0])} → {byte_text(moved[1])} moved"
            words.append(f"{one_line(found.knob)}={one_line(trial.value)} was tried (replay {trial.replay}): {change}")
        else:
            words.append(f"{one_line(found.knob)}={one_line(trial.value)} was tried and changes nothing")
    return "; ".join(words)


def command_text(found: Finding, dump_argument: str, which: Sequence[str] = ()) -> str:
    """The command that shows more."""
    shown_by = finding_kinds.KIND_OF[found.kind].shown_by
    if found.kind == kinds.FAILED and found.names[:1] in ((), (found.graph,)):
        shown_by = "dynamo"
    if shown_by == "why":
        return why_command(dump_argument, *found.names, *which)
    if shown_by in ("kernel", "node"):
        return command(dump_argument, shown_by, *found.names, *which)
    return command(dump_argument, shown_by, *(which if shown_by in ("memory", "lowering") else ()))


COLUMNS: Final[tuple[Column[Finding], ...]] = (
    Column("costs", lambda row: cell(cost_text(row), "strong"), right=True),
    Column("times", lambda row: f"{row.count:,}" if row.count > 1 else "", right=True, optional=True, drop=4),
    Column("where", places_cell, stretch=True, least=28, most=90),
    Column("what", lambda row: one_line(row.what), stretch=True, least=24, most=80, drop=1),
    Column("to do", to_do_text, stretch=True, least=20, most=120, drop=2),
    Column("why", lambda row: one_line(row.why), role="dim", stretch=True, least=20, most=120, drop=3),
    Column("basis", lambda row: row.sure, role="dim", drop=5),
)
"""One row for each finding; a page has the same below each other."""


KIND_COLUMNS: Final[tuple[Column[KindLookedFor], ...]] = (
    Column("kind", lambda row: row.kind, role="strong"),
    Column("what is looked for", lambda row: row.what, stretch=True, least=40, most=120),
    Column("not here", lambda row: row.why_not, role="dim", stretch=True, least=24, most=60),
)


def findings(request: Request, *, kinds: bool | None = None) -> Block:
    """Each finding on a few lines, with the command that shows more; with `kinds`, what is looked for."""
    if kinds:
        return Table(KIND_COLUMNS, looked_for(request.dump))
    rows = request.kept(findings_of(request.graphs))
    shown = rows if request.limit is None else rows[: request.limit]
    if not rows:
        if nothing(request.dump) is not None:
            return styled(nothing_text(request.dump), "dim")
        return Claim(styled(no_findings_text(request.dump), "dim"), kinds_command(request.dump_argument))
    blocks: list[Block] = [
        Stack(_block(request.dump, number, row, request.dump_argument), gap=False)
        for number, row in enumerate(shown, 1)
    ]
    if len(rows) > len(shown):
        blocks.append(more(len(rows) - len(shown), request.every("findings")))
    return Stack([Stack([styled(heading(rows), "strong"), *note(request.dump, rows)], gap=False), *blocks])


def heading(rows: Sequence[Finding]) -> str:
    """The line above the findings."""
    return f"{number_of(len(rows), 'finding')}, most expensive first"


def note(dump: "Dump", rows: Sequence[Finding]) -> list[Block]:
    """Why seconds are not known, and what to do, where that is so."""
    if dump.run.device == "cpu" and any(row.sure == NOT_KNOWN and row.bytes for row in rows):
        words = " No time estimates: this CPU has not been measured"
        return [Claim(styled(words, "dim"), "inspect-compile doctor --measure")]
    return []


def no_findings_text(dump: "Dump") -> str:
    """What is said where there are none."""
    text = f"None of the {number_of(sum(not row.why_not for row in looked_for(dump)), 'kind')} that are looked for"
    missing = len(disabled(dump))
    return f"{text}; {number_of(missing, 'probe')} found nothing to watch" if missing else text


def kinds_command(dump_argument: str) -> str:
    """The command that lists these kinds."""
    return command(dump_argument, "findings", f"{KINDS.flag}")


def first_lines(rows: Sequence[Finding]) -> Iterator[Block]:
    """Findings in short, as a summary has them: what it costs and where, what it is, what to do."""
    for row in rows:
        head = joined((" ▲ ", "warn"), *_cost(row), _places(row), *_times(row))
        yield Claim(head, "")
        description = one_line(row.what) + (f": {one_line(row.why)}" if row.why else "")
        yield Claim(joined("   ", (description, "")))
        yield Claim(joined("   ", ("to do: ", "accent"), to_do_text(row) or "nothing is known"))


def _cost(row: Finding) -> list[tuple[str, str]]:
    """What it costs, before what it is; nothing where that is not known."""
    cost = cost_text(row)
    return [(f"{cost}  ", "strong")] if cost else []


def _block(dump: "Dump", number: int, row: Finding, dump_argument: str) -> Iterator[Block]:
    evidence = command_text(row, dump_argument, _which(dump, row))
    head = joined((f"{number:>2} ", "dim"), *_cost(row), one_line(row.what))
    yield Claim(joined(head, *_times(row)))
    if row.parts:
        code = [source_line_text(part.where) for part in row.parts[:1]]
        yield Claim(joined("   ", _places(row), (f"   {code[0]}" if code and len(row.parts) == 1 else "", "dim")))
    if row.why:
        yield Claim(joined("   ", ("why    ", "dim"), one_line(row.why)))
    if row.each_call:
        yield Claim(joined("   ", ("costs  ", "dim"), one_line(row.each_call)))
    if to_do := to_do_text(row):
        yield Claim(joined("   ", ("to do  ", "accent"), to_do))
    names = " ".join(map(one_line, row.names)) if row.kind == kinds.MISSED_FUSION else ""
    names += f": {few([one_line(name) for name in row.buffers], _MOST_BUFFERS, ' ')}" if names and row.buffers else ""
    yield Claim(joined("   ", (f"basis  {sure_text(row)}", "dim"), (f"   {names}" if names else "", "dim")), evidence)


def _times(row: Finding) -> list[tuple[str, str]]:
    return [(f"   ×{row.count:,}", "dim")] if row.count > 1 else []


def _places(row: Finding) -> StyledLine:
    spans = places_cell(row)
    if not plain(spans):
        return styled(one_line(" ".join(row.names)), "dim")
    return StyledLine(spans)


def _which(dump: "Dump", row: Finding) -> tuple[str, ...]:
    """The options that select the graph of a finding, if there are several."""
    graphs = {graph.graph: graph for graph in dump.outermost()}
    found = graphs.get(outermost(row.graph))
    return () if found is None or len(graphs) == 1 else ("--graph", ShortNames(dump).of(found))


def _rows(graphs: Graphs, *, kinds: bool | None = None) -> Iterable[Finding] | Iterable[KindLookedFor]:
    from inspect_compile.analysis.findings import every  # the table takes them from what the dump keeps

    return looked_for(graphs.dump) if kinds else every.findings(graphs)


TABLE: Final = DeclaredTable(findings, _rows)
