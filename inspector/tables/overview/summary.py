"""A run on one screen: what became of each graph, what it costs, what can be done.

Each claim comes with the command that shows the evidence.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.analysis.cost.flops import HEAVY
from inspect_compile.analysis.dumps.nothing import nothing
from inspect_compile.analysis.dumps.parts import is_only_parts
from inspect_compile.analysis.dumps.parts import parts as parts_of
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.overview.logged import LoggedGraph, logged
from inspect_compile.analysis.overview.records import GraphSummary, RunSummary
from inspect_compile.analysis.overview.summary import incomplete, summarize, summarize_run
from inspect_compile.facts import Collective, CudaGraph, Frame, Launched, Remark, Tuning
from inspect_compile.graph import CompiledGraph, Graphs, ShortNames, few, grouped
from inspect_compile.knowledge.origins import ORIGINS
from inspect_compile.knowledge.overview.choices import CHOICES
from inspect_compile.knowledge.overview.nothing import COMPILED_NOTHING, Why, advice_for
from inspect_compile.tables.overview.findings import first_lines, kinds_command, no_findings_text, note
from inspect_compile.tables.overview.graphs import KIND_WORDS
from inspect_compile.tables.overview.remarks import remark_place
from inspect_compile.tables.overview.run_text import (
    RunSentence,
    break_text,
    eager_calls_text,
    others,
    run_text,
    warnings,
)
from inspect_compile.tables.parts import DeclaredTable, Request, command
from inspect_compile.tables.styled_text import Block, Claim, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import (
    byte_text,
    exception_text,
    multiple_text,
    number_of,
    one_line,
    seconds_text,
)

if TYPE_CHECKING:
    from inspect_compile.analysis.findings.finding import Finding
    from inspect_compile.dump import Dump

_GRAPHS = 6
_FINDINGS = 5
_LEAST_SHARE = 0.005
_REMARKS = 2
_TOLD = ("graph-break", "recompile", "recompile-limit", "no-cudagraphs", "cudagraph-again")
"""Codes of remarks that findings tell."""
_INCOMPLETE = 4
_INCOMPLETE_WORDS = {
    "failed": "did not compile",
    "stopped": "recorded in part",
    "open": "still being compiled",
    "unfinished": "not finished, as the program ended before",
    "compiled": "with nodes that are not accounted for",
}


def summary(request: Request) -> Block:
    """The run, then each graph, then the findings."""
    dump, say = request.dump, _Say(request.dump_argument)
    run = summarize_run(dump)
    if is_only_parts(dump):
        from inspect_compile.tables.compare.ranks import overview

        lines = overview(dump, parts_of(dump), request.dump_argument)
        return Stack([Stack(_run(dump, run, say), gap=False), Stack(lines, gap=False)])
    graphs, short = list(request.graphs), ShortNames(dump)
    shown = graphs[:_GRAPHS] if request.limit is not None else graphs
    parts: list[Block] = []
    for found in shown:
        which = () if run.graphs == 1 else ("--graph", short.of(found.fact))
        of_graph = _Say(request.dump_argument, which, is_brief=True)
        if dump.run.origin:
            parts.append(Stack([*_logged(logged(found), of_graph), of_graph.form()], gap=False))
            continue
        lines = _graph(summarize(found), of_graph)
        every: list[Block] = [*lines, *_tuned(found, of_graph), *_ran(found, of_graph), of_graph.form()]
        parts.append(Stack(every, gap=False))
    if rest := graphs[len(shown) :]:
        parts.append(Stack(_rest(dump, rest, say), gap=False))
    if not graphs and (why := nothing(dump)) is not None:
        parts.append(Stack(_nothing(dump, why, say), gap=False))
    parts.insert(0, Stack(_run(dump, run, say), gap=False))  # it also says what could not be read
    is_found = bool(graphs) or (bool(dump.rows(Frame)) and not dump.lacking)
    rows = findings(request.graphs) if is_found else []
    origin = ORIGINS.get(dump.run.origin)
    if (graphs or rows) and (origin is None or origin.findings):
        parts.append(Stack(_findings(request, rows, say), gap=False))
    return Stack(parts)


class _Say(NamedTuple):
    """Makes claims about a dump, or about one of its graphs."""

    dump_argument: str
    which: tuple[str, ...] = ()
    """The options that select the graph."""
    is_brief: bool = False
    """The claims name their table alone; `form` says once how the command goes on."""

    def __call__(self, words: str | StyledLine, role: str = "", table: str = "", *names: str) -> Claim:
        """The words, with the command that shows `table`."""
        text = styled(words, role) if isinstance(words, str) else words
        if self.is_brief:
            return Claim(text, table)
        return Claim(text, command(self.dump_argument, table, *names, *self.which) if table else "")

    def form(self) -> StyledLine:
        """The command that the tables at the ends of lines stand for."""
        return joined((" TABLE of a line: ", "dim"), (command(self.dump_argument, "TABLE", *self.which), "accent"))

    def claim(self, sentence: RunSentence) -> Claim:
        """A sentence about the run, with its command."""
        text = styled(f" {sentence.text}", sentence.role)
        return Claim(text, sentence.command or (command(self.dump_argument, *sentence.table) if sentence.table else ""))


def _rest(dump: "Dump", graphs: list[CompiledGraph], say: _Say) -> Iterator[Claim]:
    """The graphs that are not shown: their number, and which of them are incomplete."""
    found = incomplete(dump, graphs)
    state = "" if found else ", all of them complete"
    yield say(f"… {number_of(len(graphs), 'more graph')}{state}", "dim", "graphs", "--all")
    kinds = grouped(found, lambda one: one.status if one.status in _INCOMPLETE_WORDS else "failed")
    for status, same in kinds.items():
        is_compiled = status == "compiled"
        words = [one_line(one.graph.graph) + (f" ({one.accounted:.1%})" if is_compiled else "") for one in same]
        yield say(
            f" {len(same):,} {_INCOMPLETE_WORDS[status]}: {few(words, _INCOMPLETE)}",
            "bad" if status == "failed" else "warn",
            "nodes" if is_compiled else "lowering",
            "--graph",
            same[0].graph.graph,
        )


def _run(dump: "Dump", run: RunSummary, say: _Say) -> Iterator[Block]:
    yield say(StyledLine(run_text(dump, run)[0]))
    for sentence in (*warnings(dump, run), *others(dump, say.dump_argument)):
        yield say.claim(sentence)
    if run.frames or run.graph_breaks or run.recompiles:
        frames = ", ".join(f"{number_of(count, 'frame')} {status}" for status, count in run.frames.items())
        breaks = f"{break_text(run)}, {number_of(run.recompiles, 'recompile')}"
        breaks += f"; {eager_calls_text(run)}" if run.eager else ""
        role = "warn" if run.graph_breaks or run.recompiles or run.eager else ""
        yield say(f" Dynamo: {frames}; {breaks}" if frames else f" Dynamo: {breaks}", role, "dynamo")
    if dump.rows(Collective):
        from inspect_compile.tables.runtime.collectives import claims

        yield from claims(dump, say.dump_argument)


def _logged(row: LoggedGraph, say: _Say) -> Iterator[Claim]:
    """A graph of a log."""
    kind = f"  {row.kind} {row.compile_id or ''}".rstrip()
    yield say(joined((row.graph, "strong"), (kind, "dim")))
    yield say(" nodes not known" if row.nodes is None else f" {number_of(row.nodes, 'node')}", "", "nodes")
    if row.kernels is None or row.launches is None:
        yield say(" its generated code is not known")
    else:
        yield say(f" {number_of(row.kernels, 'kernel')}, {number_of(row.launches, 'call')}", "", "kernels")


def _rows(graphs: Graphs) -> Iterator[RunSummary | GraphSummary | LoggedGraph]:
    yield summarize_run(graphs.dump)
    yield from map(logged if graphs.dump.run.origin else summarize, graphs)


def _graph(row: GraphSummary, say: _Say) -> Iterator[Claim]:
    state = {
        "compiled": f"compiled in {seconds_text(row.seconds)}",
        "open": "still being compiled",
        "unfinished": "not finished: the program ended before its compile did",
        "stopped": f"recorded for {seconds_text(row.seconds)} of its compile",
    }.get(row.status, "")
    nested = f"  with {number_of(row.nested, 'nested graph')}" if row.nested else ""
    yield say(joined((row.graph, "strong"), (f"  {row.kind} {row.compile_id or ''}  {state}{nested}", "dim")))
    if row.status == "failed":
        reason = exception_text(row.exception or "no reason was recorded")
        yield say(f" did not compile: {reason}", "bad", "lowering")
        if advice := advice_for(row.exception or ""):
            yield say(f" To do: {advice}", "warn")
    kinds = ", ".join(f"{count} {KIND_WORDS.get(kind, kind)}" for kind, count in row.kernels.items())
    steps = [
        number_of(row.nodes, "node"),
        number_of(row.operations, "operation"),
        number_of(row.groups, "group"),
        number_of(sum(row.kernels.values()), "kernel") + (f" ({kinds})" if kinds else ""),
    ]
    yield say(f" {' → '.join(steps)}, {number_of(row.launches, 'call')}", "", "kernels")
    if row.status != "compiled":
        return
    if row.missing:
        names = few(row.missing, 3)
        yield say(f" {row.accounted:.1%} of the nodes are accounted for; not {names}", "warn", "nodes")
    else:
        yield say(" 100 % of the nodes are accounted for", "", "nodes")
    if row.unknown_lines:
        lines = number_of(len(row.unknown_lines), "line of the generated code is", "lines of the generated code are")
        yield say(f" {lines} of no known kind: output_code.py:{row.unknown_lines[0]}", "warn", "wrapper")
    heavy = [(kind, count) for kind, count in row.flops_by_kind.items() if kind in HEAVY and count]
    shares = [
        (kind, f"{count / row.flops:.0%}" if count / row.flops >= _LEAST_SHARE else "<1%") for kind, count in heavy
    ]
    heavy_words = f", {', '.join(f'{kind} {share}' for kind, share in shares)}" if heavy else ""
    left = row.flops_uncounted
    left_words = f"; {number_of(left, 'node is', 'nodes are')} not counted" if left else ""
    yield say(f" {multiple_text(row.flops, 'FLOP')}{heavy_words}{left_words}", "", "flops")
    unknown = f"; of {number_of(row.unknown_launches, 'call')} it is not known" if row.unknown_launches else ""
    moved = f" {byte_text(row.moved_bytes)} moved{unknown}; inputs and outputs are {byte_text(row.least_bytes)}"
    yield say(moved, "", "traffic")
    where = f" at output_code.py:{row.peak_line}" if row.peak_line is not None else ""
    peak = f" peak {byte_text(row.peak_bytes)}{where}, {byte_text(row.allocated_bytes)} allocated in all"
    yield say(peak, "", "memory")
    if row.fused or row.refused:
        yield say(f" {number_of(row.fused, 'fusion')}, {number_of(row.refused, 'refusal')}", "", "fusion")


def _ran(graph: "CompiledGraph", say: _Say) -> Iterator[Claim]:
    """What was recorded of its calls. Most dumps have nothing of it, and import nothing for it."""
    if graph.dump.rows(CudaGraph):
        from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
        from inspect_compile.tables.runtime.cudagraphs import graph_calls_text

        if rows := cudagraph_rows(graph):
            role = "warn" if any(row.skipped for row in rows) else ""
            yield say(f" CUDA graphs: {graph_calls_text(rows)}", role, "cudagraphs")
    if graph.dump.rows(Launched):
        from inspect_compile.analysis.runtime.measured import measured_graph
        from inspect_compile.tables.runtime.measured import times_text

        if (times := measured_graph(graph)) is not None:
            yield say(f" measured {times_text(times)}", "", "measured")


def _tuned(graph: "CompiledGraph", say: _Say) -> Iterator[Claim]:
    """What was chosen by measuring."""
    if graph.rows(Tuning):
        from inspect_compile.analysis.kernels.autotuning import autotuned
        from inspect_compile.tables.kernels.autotune import summary_text

        if tuned := summary_text(autotuned(graph)):
            yield say(f" {tuned}", "", "autotune")


def _findings(request: Request, rows: "list[Finding]", say: _Say) -> Iterator[Block]:
    """The most expensive findings, then what the compiler noticed and nobody has to act on."""
    dump = request.dump
    title = "Findings, most expensive first" if len(rows) > 1 else "Findings"
    yield say(title, "strong", "findings" if rows else "")
    if not rows:
        yield Claim(styled(f" {no_findings_text(dump)}", "dim"), kinds_command(request.dump_argument))
    yield from note(dump, rows[:_FINDINGS])
    yield from first_lines(rows[:_FINDINGS])
    if (left := len(rows) - _FINDINGS) > 0:
        yield say(f" … {number_of(left, 'more finding')}", "dim", "findings")
    yield from _remarks(dump, say)


def _remarks(dump: "Dump", say: _Say) -> Iterator[Claim]:
    """What else the compiler noticed: nobody has to act on it, and a line that runs twice says it once."""
    noticed = (row for row in dump.rows(Remark) if row.kind != "passed" and row.code not in (*CHOICES, *_TOLD))
    remarks = sorted(noticed, key=lambda remark: remark.kind != "missed")
    same = Counter((remark_place(remark), remark.message) for remark in remarks)
    for (place, message), times in list(same.items())[:_REMARKS]:
        often = (f"   {times} times", "dim") if times > 1 else ""
        yield say(joined((" ● ", "accent"), StyledLine(place), "  " * bool(place), one_line(message), often))
    left = len(remarks) - sum(list(same.values())[:_REMARKS])
    if remarks:
        yield say(f" … {number_of(left, 'more remark')}" if left else " All remarks", "dim", "remarks")


def _nothing(dump: "Dump", why: Why, say: _Say) -> Iterator[Claim]:
    """Why a dump has no graphs, and what to do."""
    head = "No graph was compiled" if why.head == COMPILED_NOTHING else f"{why.head[:1].upper()}{why.head[1:]}"
    words = f"{head}: {one_line(why.text)}"
    if why.table or not dump.other_processes:
        yield say(words, "bad" if why.table else "", why.table)
    else:
        yield Claim(styled(words), f"show {dump.other_processes[0]}")
    if why.to_do:
        yield say(f"To do: {one_line(why.to_do)}", "warn")


TABLE: Final = DeclaredTable(summary, _rows)
