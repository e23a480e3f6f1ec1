"""A run on one screen: what became of each graph, what it costs, what can be done.

Each claim comes with the command that shows the evidence.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.compare.ranks import summarize_rank
from inspect_compile.analysis.cost.flops import HEAVY
from inspect_compile.analysis.dumps.graphs import ShortNames
from inspect_compile.analysis.dumps.names import few
from inspect_compile.analysis.dumps.nothing import nothing
from inspect_compile.analysis.dumps.parts import asked, is_only_parts
from inspect_compile.analysis.dumps.parts import parts as parts_of
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.dumps.parts import targets as targets_of
from inspect_compile.analysis.dumps.rows import disabled
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.overview.summary import (
    GraphSummary,
    Incomplete,
    RunSummary,
    incomplete,
    summarize,
    summarize_run,
)
from inspect_compile.facts import Collective, CudaGraph, Frame, Graph, Launched, Remark, Tuning
from inspect_compile.knowledge.overview.choices import CHOICES
from inspect_compile.knowledge.overview.nothing import Why, advice_for
from inspect_compile.tables.overview.findings import first_lines, note, nothing_words
from inspect_compile.tables.overview.remarks import remark_place
from inspect_compile.tables.parts import Request, command, omitted
from inspect_compile.tables.styled_text import Claim, Stack, joined, styled
from inspect_compile.tables.terminal_table import STYLES
from inspect_compile.tables.text import (
    byte_text,
    exception_text,
    multiple_text,
    number_of,
    one_line,
    program_words,
    seconds_text,
    shared_text,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_GRAPHS = 6
_FINDINGS = 5
_LEAST_SHARE = 0.005
_REMARKS = 2
_TOLD = ("graph-break", "recompile", "recompile-limit", "no-cudagraphs", "cudagraph-again")
"""Codes of remarks that findings tell."""
_HOOKS = 3
_INCOMPLETE = 4
_INCOMPLETE_WORDS = {
    "failed": "did not compile",
    "stopped": "recorded in part",
    "open": "still being compiled",
    "unfinished": "not finished, as the program ended before",
    "compiled": "with nodes that are not accounted for",
}
_KERNEL_WORDS = {"cpp": "C++", "triton": "Triton", "user_triton": "of your own Triton", "template": "template"}


def summary(request: Request) -> RenderableType:
    """The run, then each graph, then the findings."""
    dump, say = request.dump, _Say(request.dump_argument)
    run = summarize_run(dump)
    if is_only_parts(dump):
        from inspect_compile.tables.compare.ranks import overview

        lines = overview(dump, parts_of(dump), request.dump_argument)
        return Stack([Stack(_run(dump, run, say), gap=False), Stack(lines, gap=False)])
    graphs, short = request.graphs(), ShortNames(dump)
    shown = graphs[:_GRAPHS] if request.limit is not None else graphs
    parts: list[RenderableType] = []
    for found in shown:
        of_graph = _Say(request.dump_argument, () if run.graphs == 1 else ("--graph", short.of(found)))
        lines = _graph(summarize(dump, found), of_graph)
        parts.append(Stack([*lines, *_tuned(dump, found, of_graph), *_ran(dump, found, of_graph)], gap=False))
    if rest := graphs[len(shown) :]:
        parts.append(Stack(_rest(dump, rest, say), gap=False))
    if not graphs and (why := nothing(dump)) is not None:
        parts.append(Stack(_nothing(dump, why, say), gap=False))
    parts.insert(0, Stack(_run(dump, run, say), gap=False))  # it also says what could not be read
    if bool(graphs) or bool(dump.rows(Frame)):
        parts.append(Stack(_findings(request, say), gap=False))
    return Stack(parts)


class _Say(NamedTuple):
    """Makes claims about a dump, or about one of its graphs."""

    dump_argument: str
    which: tuple[str, ...] = ()
    """The options that select the graph."""

    def __call__(self, words: str | Text, style: str = "", table: str = "", *names: str) -> Claim:
        """The words, with the command that shows `table`."""
        text = styled(words, style) if isinstance(words, str) else words
        return Claim(text, command(self.dump_argument, table, *names, *self.which) if table else "")


def _rest(dump: "Dump", graphs: list[Graph], say: _Say) -> Iterator[Claim]:
    """The graphs that are not shown: their number, and which of them are incomplete."""
    found = incomplete(dump, graphs)
    told = "" if found else ", all of them complete"
    yield say(f"… {number_of(len(graphs), 'more graph')}{told}", "dim", "graphs", "--all")
    kinds: dict[str, list[Incomplete]] = {}
    for one in found:
        kinds.setdefault(one.status if one.status in _INCOMPLETE_WORDS else "failed", []).append(one)
    for status, same in kinds.items():
        is_compiled = status == "compiled"
        words = [one_line(one.graph.graph) + (f" ({one.accounted:.1%})" if is_compiled else "") for one in same]
        yield say(
            f" {len(same):,} {_INCOMPLETE_WORDS[status]}: {few(words, _INCOMPLETE)}",
            "red" if status == "failed" else "yellow",
            "nodes" if is_compiled else "lowering",
            "--graph",
            same[0].graph.graph,
        )


def _run(dump: "Dump", run: RunSummary, say: _Say) -> Iterator[RenderableType]:
    words = [one_line(" ".join(program_words(run.argv)) or dump.root.name)]
    words += [f"torch {run.versions['torch']}"] if "torch" in run.versions else []
    words.append(dump.run.device)
    words += [f"rank {dump.run.rank}"] if dump.run.rank is not None else []
    if dump.run.replay_of:
        words.append(f"compiled again {asked('', dump.run.config, dump.run.denied)}".rstrip())
    spent = ""
    if run.seconds is not None:
        spent = f"   {seconds_text(run.seconds)}, of which probes {seconds_text(run.probe_seconds)}"
    yield say(joined((" · ".join(words), "bold"), (spent, "dim")), "", "overhead")
    state = run_state(dump)
    if state.text:
        yield say(f" {exception_text(state.text)}", "yellow" if state.is_growing else "red")
    yield from _disabled(dump, say)
    for warning in _warnings(dump):
        yield say(f" {warning}", "yellow")
    yield from omitted(dump)
    for noted in (shared_text(dump.shared) if dump.shared is not None else "", dump.left_out, *run.notes):
        if noted:
            yield say(f" {one_line(noted)}", "yellow")
    yield from _parts(dump, say)
    if run.frames or run.graph_breaks or run.recompiles:
        frames = ", ".join(f"{number_of(count, 'frame')} {status}" for status, count in run.frames.items())
        breaks = f"{number_of(run.graph_breaks, 'graph break')}, {number_of(run.recompiles, 'recompile')}"
        style = "yellow" if run.graph_breaks or run.recompiles else ""
        yield say(f" Dynamo: {frames}; {breaks}" if frames else f" Dynamo: {breaks}", style, "dynamo")
    if dump.rows(Collective):
        from inspect_compile.tables.runtime.collectives import claims

        yield from claims(dump, say.dump_argument)


def _disabled(dump: "Dump", say: _Say) -> Iterator[Claim]:
    hooks = disabled(dump)
    for hook in hooks[:_HOOKS]:
        what = "was turned off" if hook.state == "failed" else "found nothing to watch"
        told = f" The probe of {hook.target.removeprefix('torch.')} {what}: {one_line(hook.reason)}"
        yield say(told, "yellow", "overhead", hook.target.rpartition(".")[2])
    if len(hooks) > _HOOKS:
        yield say(f" … {number_of(len(hooks) - _HOOKS, 'more probe')} turned off", "yellow", "overhead")


def _warnings(dump: "Dump") -> Iterator[str]:
    """What torch alone would not have done (fusion was steered, results were replaced); and that lines are damaged."""
    run = dump.run
    if run.fusions is not None:
        yield f"fusions that were allowed: {run.fusions:,} (bisect-fusions)"
    for a, b in run.denied if not run.replay_of else ():
        yield f"fusion had to keep {one_line(a)} and {one_line(b)} apart"
    if run.numerics is not None and run.numerics.continue_with == "reference":
        yield "checked calls returned what their graphs compute node by node (numerics --continue-with reference)"
    if dump.damaged:
        yield f"{number_of(dump.damaged, 'line')} of the tables could not be read"


def _parts(dump: "Dump", say: _Say) -> Iterator[Claim]:
    """What else the dump holds: targets, other processes, replays."""
    targets, again = targets_of(dump), replays_of(dump)
    for target, part in targets.items():
        row = summarize_rank(part)
        told = f"{number_of(row.graphs, 'graph')}, {number_of(row.kernels, 'kernel')}, {row.status}"
        yield Claim(styled(f" {part.name}   {told}"), f"{command(say.dump_argument, '')} --target {target}")
    others = [part.dump.root for part in parts_of(dump) if part.replay is None]
    if others and not is_only_parts(dump) and not targets:
        told = f" {number_of(len(others), 'process', 'processes')} of the same run compiled too"
        yield Claim(styled(told), f"show {others[0]}")
    if again:
        graphs = number_of(len({part.dump.run.replay_of for part in again.values()}), "graph")
        yield say(f" {number_of(len(again), 'replay')} of {graphs}", "", "replays")


def _graph(row: GraphSummary, say: _Say) -> Iterator[Claim]:
    state = {
        "compiled": f"compiled in {seconds_text(row.seconds)}",
        "open": "still being compiled",
        "unfinished": "not finished: the program ended before its compile did",
        "stopped": f"recorded for {seconds_text(row.seconds)} of its compile",
    }.get(row.status, "")
    nested = f"  with {number_of(row.nested, 'nested graph')}" if row.nested else ""
    yield say(joined((row.graph, "bold"), (f"  {row.kind} {row.compile_id or ''}  {state}{nested}", "dim")))
    if row.status == "failed":
        reason = exception_text(row.exception or "no reason was recorded")
        yield say(f" did not compile: {reason}", "red", "lowering")
        if advice := advice_for(row.exception or ""):
            yield say(f" To do: {advice}", "yellow")
    kinds = ", ".join(f"{count} {_KERNEL_WORDS.get(kind, kind)}" for kind, count in row.kernels.items())
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
        yield say(f" {row.accounted:.1%} of the nodes are accounted for; not {names}", "yellow", "nodes")
    else:
        yield say(" 100 % of the nodes are accounted for", "", "nodes")
    if row.unknown_lines:
        lines = number_of(len(row.unknown_lines), "line of the generated code is", "lines of the generated code are")
        yield say(f" {lines} of no known kind: output_code.py:{row.unknown_lines[0]}", "yellow", "wrapper")
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


def _ran(dump: "Dump", graph: Graph, say: _Say) -> Iterator[Claim]:
    """What was recorded of its calls. Most dumps have nothing of it, and import nothing for it."""
    if dump.rows(CudaGraph):
        from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
        from inspect_compile.tables.runtime.cudagraphs import graph_words

        if rows := cudagraph_rows(dump, graph.graph):
            style = "yellow" if any(row.skipped for row in rows) else ""
            yield say(f" CUDA graphs: {graph_words(rows)}", style, "cudagraphs")
    if dump.rows(Launched):
        from inspect_compile.analysis.runtime.measured import measured_graph
        from inspect_compile.tables.runtime.measured import sum_words

        if (times := measured_graph(dump, graph.graph)) is not None:
            yield say(f" measured {sum_words(times)}", "", "measured")


def _tuned(dump: "Dump", graph: Graph, say: _Say) -> Iterator[Claim]:
    """What was chosen by measuring."""
    if dump.rows(Tuning, graph.graph):
        from inspect_compile.analysis.kernels.autotuning import autotuned
        from inspect_compile.tables.kernels.autotune import summary_text

        if tuned := summary_text(autotuned(dump, graph.graph)):
            yield say(f" {tuned}", "", "autotune")


def _findings(request: Request, say: _Say) -> Iterator[RenderableType]:
    """The most expensive findings, then what the compiler noticed and nobody has to act on."""
    dump = request.dump
    rows = findings(dump, request.graph)
    yield styled("Findings, most expensive first" if len(rows) > 1 else "Findings", "bold")
    if not rows:
        yield say(f" {nothing_words()}", "dim")
    yield from note(dump, rows[:_FINDINGS])
    yield from first_lines(dump, rows[:_FINDINGS], say.dump_argument)
    if (left := len(rows) - _FINDINGS) > 0:
        yield say(f" … {number_of(left, 'more finding')}", "dim", "findings")
    yield from _remarks(dump, say)


def _remarks(dump: "Dump", say: _Say) -> Iterator[Claim]:
    """What else the compiler noticed: nobody has to act on it, and a line that runs twice says it once."""
    told = (row for row in dump.rows(Remark) if row.kind != "passed" and row.code not in (*CHOICES, *_TOLD))
    remarks = sorted(told, key=lambda remark: remark.kind != "missed")
    same = Counter((remark_place(remark), remark.message) for remark in remarks)
    for (place, message), times in list(same.items())[:_REMARKS]:
        again = (f"   {times} times", "dim") if times > 1 else ""
        spans = ((span.text, STYLES.get(span.role, "")) for span in place)
        yield say(joined((" ● ", "cyan"), *spans, "  " * bool(place), one_line(message), again), "", "remarks")
    if len(same) > _REMARKS:
        left = len(remarks) - sum(list(same.values())[:_REMARKS])
        yield say(f" … {number_of(left, 'more remark')}", "dim", "remarks")


def _nothing(dump: "Dump", why: Why, say: _Say) -> Iterator[Claim]:
    """Why a dump has no graphs, and what to do."""
    words = f"No graph was compiled: {one_line(why.text)}"
    if why.table or not dump.other_processes:
        yield say(words, "red" if why.table else "", why.table)
    else:
        yield Claim(styled(words), f"show {dump.other_processes[0]}")
    if why.to_do:
        yield say(f"To do: {one_line(why.to_do)}", "yellow")
