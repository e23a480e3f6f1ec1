"""A run on one screen: what became of each graph, what it costs, what was missed.

Each claim comes with the command that shows the evidence.
"""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.compare.ranks import summarize_rank
from inspect_compile.analysis.cost.flops import HEAVY
from inspect_compile.analysis.dumps.graphs import ShortNames, graphs_of, outermost
from inspect_compile.analysis.dumps.names import few
from inspect_compile.analysis.dumps.nothing import nothing
from inspect_compile.analysis.dumps.parts import asked, is_only_parts
from inspect_compile.analysis.dumps.parts import parts as parts_of
from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.dumps.parts import targets as targets_of
from inspect_compile.analysis.dumps.rows import disabled
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.fusion.misses import Miss, most_expensive_first
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.overview.summary import (
    GraphSummary,
    Incomplete,
    RunSummary,
    incomplete,
    summarize,
    summarize_run,
)
from inspect_compile.facts import Collective, CudaGraph, Graph, Launched, Location, Node, Remark, Tuning
from inspect_compile.knowledge.overview.choices import CHOICES
from inspect_compile.knowledge.overview.nothing import Why, advice_for
from inspect_compile.tables.claim import Claim
from inspect_compile.tables.fusion.why_text import miss_words, order_words, saved_words, score_words
from inspect_compile.tables.parts import command, omitted, why_command
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.text import (
    byte_text,
    clean,
    exception_text,
    file_name,
    multiple_text,
    number_of,
    one_line,
    place_text,
    program_words,
    seconds_text,
    shared_text,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_GRAPHS = 6
_MISSES = 5
_REMARKS = 3
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


def summary(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """The run, then each graph, then what was missed."""
    if is_only_parts(dump):
        from inspect_compile.tables.compare.ranks import overview

        lines = list(overview(dump, parts_of(dump), dump_argument))
        return Stack([Stack(list(_run(dump, summarize_run(dump), dump_argument)), gap=False), Stack(lines, gap=False)])
    run, graphs, short = summarize_run(dump), graphs_of(dump, graph), ShortNames(dump)
    is_one = run.graphs == 1
    shown = graphs[:_GRAPHS] if limit is not None else graphs
    parts: list[RenderableType] = []
    fusions = {found.graph: fusion(dump, found.graph) for found in shown}
    for found in shown:
        which = () if is_one else ("--graph", short.of(found))
        lines = list(_graph(summarize(dump, found, fusions[found.graph]), dump_argument, which))
        lines += _tuned(dump, found, dump_argument, which)
        lines += _ran(dump, found, dump_argument, which)
        parts.append(Stack(lines, gap=False))
    if rest := graphs[len(shown) :]:
        parts.append(Stack(list(_rest(dump, rest, dump_argument)), gap=False))
    if not graphs and (why := nothing(dump)) is not None:
        parts.append(Stack(list(_nothing(dump, why, dump_argument)), gap=False))
    parts.insert(0, Stack(list(_run(dump, run, dump_argument)), gap=False))  # it also says what could not be read
    misses = most_expensive_first(miss for found in fusions.values() for miss in (*found.apart, *found.beside))
    is_cut = any(found.left_out for found in fusions.values())
    if missed := list(_missed(dump, shown, misses, dump_argument, is_cut=is_cut)):
        parts.append(Stack(missed, gap=False))
    return Stack(parts)


def _rest(dump: "Dump", graphs: list[Graph], dump_argument: str) -> Iterator[RenderableType]:
    """The graphs that are not shown: their number, and which of them are incomplete."""
    found = incomplete(dump, graphs)
    told = "" if found else ", all of them complete"
    yield Claim(
        styled(f"… {number_of(len(graphs), 'more graph')}{told}", "dim"), command(dump_argument, "graphs", "--all")
    )
    kinds: dict[str, list[Incomplete]] = {}
    for one in found:
        kinds.setdefault(one.status if one.status in _INCOMPLETE_WORDS else "failed", []).append(one)
    for status, same in kinds.items():
        words = [
            one_line(one.graph.graph) + (f" ({one.accounted:.1%})" if status == "compiled" else "") for one in same
        ]
        listed = few(words, _INCOMPLETE)
        table = "nodes" if status == "compiled" else "lowering"
        style = "red" if status == "failed" else "yellow"
        evidence = command(dump_argument, table, "--graph", same[0].graph.graph)
        yield Claim(styled(f" {len(same):,} {_INCOMPLETE_WORDS[status]}: {listed}", style), evidence)


def _steered(dump: "Dump") -> Iterator[RenderableType]:
    """A warning that fusion was steered: what is shown is not what torch alone would have done."""
    run = dump.run
    if run.fusions is not None:
        yield Claim(styled(f" fusions that were allowed: {run.fusions:,} (bisect-fusions)", "yellow"))
    for a, b in run.denied if not run.replay_of else ():
        yield Claim(styled(f" fusion had to keep {one_line(a)} and {one_line(b)} apart", "yellow"))


def _run(dump: "Dump", run: RunSummary, dump_argument: str) -> Iterator[RenderableType]:
    command_line = " ".join(program_words(run.argv)) or dump.root.name
    versions = [f"torch {run.versions['torch']}"] if "torch" in run.versions else []
    words = [
        one_line(command_line),
        *versions,
        dump.run.device,
        *([f"rank {dump.run.rank}"] if dump.run.rank is not None else []),
        *([f"compiled again {asked('', dump.run.config, dump.run.denied)}".rstrip()] if dump.run.replay_of else []),
    ]
    spent = ""
    if run.seconds is not None:
        spent = f"   {seconds_text(run.seconds)}, of which probes {seconds_text(run.probe_seconds)}"
    head = joined((clean(" · ".join(words)), "bold"), (spent, "dim"))
    yield Claim(head, command(dump_argument, "overhead"))
    state = run_state(dump)
    if state.text:
        style = "yellow" if state.is_growing else "red"
        yield Claim(styled(f" {exception_text(state.text)}", style))
    yield from _stood_aside(dump, dump_argument)
    yield from _steered(dump)
    if dump.damaged:
        yield Claim(styled(f" {number_of(dump.damaged, 'line')} of the tables could not be read", "yellow"))
    yield from omitted(dump)
    if (shared := dump.shared) is not None:
        yield Claim(styled(f" {shared_text(shared)}", "yellow"))
    if dump.left_out:
        yield Claim(styled(f" {dump.left_out}", "yellow"))
    for note in run.notes:
        yield Claim(styled(f" {one_line(note)}", "yellow"))
    for target, part in targets_of(dump).items():
        row = summarize_rank(part)
        told = f"{number_of(row.graphs, 'graph')}, {number_of(row.kernels, 'kernel')}, {row.status}"
        yield Claim(styled(f" {part.name}   {told}"), f"{command(dump_argument, '').rstrip()} --target {target}")
    others = [part.dump.root for part in parts_of(dump) if part.replay is None]
    if others and not is_only_parts(dump) and not targets_of(dump):
        first = others[0]
        more = number_of(len(others), "process", "processes")
        yield Claim(styled(f" {more} of the same run compiled too"), f"show {first}")
    if again := replays_of(dump):
        graphs = number_of(len({part.dump.run.replay_of for part in again.values()}), "graph")
        told = f" {number_of(len(again), 'replay')} of {graphs}"
        yield Claim(styled(told), command(dump_argument, "replays"))
    if run.frames or run.graph_breaks or run.recompiles:
        frames = ", ".join(f"{number_of(count, 'frame')} {status}" for status, count in run.frames.items())
        breaks = f"{number_of(run.graph_breaks, 'graph break')}, {number_of(run.recompiles, 'recompile')}"
        told = f" Dynamo: {frames}; {breaks}" if frames else f" Dynamo: {breaks}"
        style = "yellow" if run.graph_breaks or run.recompiles else ""
        yield Claim(styled(told, style), command(dump_argument, "dynamo"))
    if dump.rows(Collective):
        from inspect_compile.tables.runtime.collectives import claims

        yield from claims(dump, dump_argument)


def _stood_aside(dump: "Dump", dump_argument: str) -> Iterator[RenderableType]:
    hooks = disabled(dump)
    for hook in hooks[:_HOOKS]:
        what = "was turned off" if hook.state == "failed" else "found nothing to watch"
        told = f" The probe of {hook.target.removeprefix('torch.')} {what}: {one_line(hook.reason)}"
        yield Claim(styled(told, "yellow"), command(dump_argument, "overhead", hook.target.rpartition(".")[2]))
    if len(hooks) > _HOOKS:
        left = number_of(len(hooks) - _HOOKS, "more probe")
        yield Claim(styled(f" … {left} turned off", "yellow"), command(dump_argument, "overhead"))


def _graph(row: GraphSummary, dump_argument: str, which: tuple[str, ...]) -> Iterator[RenderableType]:
    state = {
        "compiled": f"compiled in {seconds_text(row.seconds)}",
        "open": "still being compiled",
        "unfinished": "not finished: the program ended before its compile did",
        "stopped": f"recorded for {seconds_text(row.seconds)} of its compile",
    }.get(row.status, "")
    told = joined((clean(row.graph), "bold"), (f"  {row.kind} {row.compile_id or ''}  {state}", "dim"))
    if row.nested:
        told.append(f"  with {number_of(row.nested, 'nested graph')}", "dim")
    yield Claim(told)
    if row.status == "failed":
        reason = f" did not compile: {exception_text(row.exception or 'no reason was recorded')}"
        yield Claim(styled(reason, "red"), command(dump_argument, "lowering", *which))
        if advice := advice_for(row.exception or ""):
            yield Claim(styled(f" To do: {advice}", "yellow"))
    kinds = ", ".join(f"{count} {_KERNEL_WORDS.get(kind, kind)}" for kind, count in row.kernels.items())
    kernels = sum(row.kernels.values())
    steps = [
        number_of(row.nodes, "node"),
        number_of(row.operations, "operation"),
        number_of(row.groups, "group"),
        number_of(kernels, "kernel") + (f" ({kinds})" if kinds else "") + f", {number_of(row.launches, 'call')}",
    ]
    yield Claim(styled(f" {' → '.join(steps)}"), command(dump_argument, "kernels", *which))
    if row.status != "compiled":
        return
    if row.missing:
        names = ", ".join(row.missing[:3]) + (", …" if len(row.missing) > 3 else "")
        told = styled(f" {row.accounted:.1%} of the nodes are accounted for; not {clean(names)}", "yellow")
        yield Claim(told, command(dump_argument, "nodes", *which))
    else:
        yield Claim(styled(" 100 % of the nodes are accounted for"), command(dump_argument, "nodes", *which))
    if row.unknown_lines:
        lines = number_of(len(row.unknown_lines), "line of the generated code is", "lines of the generated code are")
        told = styled(f" {lines} of no known kind: output_code.py:{row.unknown_lines[0]}", "yellow")
        yield Claim(told, command(dump_argument, "wrapper", *which))
    heavy = [(kind, count) for kind, count in row.flops_by_kind.items() if kind in HEAVY and count]
    heavy_words = f", {', '.join(f'{kind} {count / row.flops:.0%}' for kind, count in heavy)}" if heavy else ""
    left = row.flops_uncounted
    left_words = f"; {number_of(left, 'node is', 'nodes are')} not counted" if left else ""
    yield Claim(
        styled(f" {multiple_text(row.flops, 'FLOP')}{heavy_words}{left_words}"), command(dump_argument, "flops", *which)
    )
    unknown = f"; of {number_of(row.unknown_launches, 'call')} it is not known" if row.unknown_launches else ""
    moved = f" {byte_text(row.moved_bytes)} moved{unknown}; inputs and outputs are {byte_text(row.least_bytes)}"
    yield Claim(styled(moved), command(dump_argument, "traffic", *which))
    where = f" at output_code.py:{row.peak_line}" if row.peak_line is not None else ""
    peak = f" peak {byte_text(row.peak_bytes)}{where}, {byte_text(row.allocated_bytes)} allocated in all"
    yield Claim(styled(peak), command(dump_argument, "memory", *which))
    if row.fused or row.refused:
        told = styled(f" {number_of(row.fused, 'fusion')}, {number_of(row.refused, 'refusal')}")
        yield Claim(told, command(dump_argument, "fusion", *which))


def _ran(dump: "Dump", graph: Graph, dump_argument: str, which: tuple[str, ...]) -> Iterator[RenderableType]:
    """What was recorded of its calls. Most dumps have nothing of it, and import nothing for it."""
    if dump.rows(CudaGraph):
        from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
        from inspect_compile.tables.runtime.cudagraphs import graph_words

        if rows := cudagraph_rows(dump, graph.graph):
            style = "yellow" if any(row.skipped for row in rows) else ""
            yield Claim(
                styled(f" CUDA graphs: {graph_words(rows)}", style), command(dump_argument, "cudagraphs", *which)
            )
    if dump.rows(Launched):
        from inspect_compile.analysis.runtime.measured import measured_graph
        from inspect_compile.tables.runtime.measured import sum_words

        if (times := measured_graph(dump, graph.graph)) is not None:
            yield Claim(styled(f" measured {sum_words(times)}"), command(dump_argument, "measured", *which))


def _tuned(dump: "Dump", graph: Graph, dump_argument: str, which: tuple[str, ...]) -> Iterator[RenderableType]:
    """What was chosen by measuring."""
    if dump.rows(Tuning, graph.graph):
        from inspect_compile.analysis.kernels.autotuning import autotuned
        from inspect_compile.tables.kernels.autotune_text import summary_text

        if tuned := summary_text(autotuned(dump, graph.graph)):
            yield Claim(styled(f" {tuned}"), command(dump_argument, "autotune", *which))


def _missed(
    dump: "Dump", graphs: list[Graph], misses: list[Miss], dump_argument: str, *, is_cut: bool
) -> Iterator[RenderableType]:
    """`is_cut`: not all pairs are among `misses`."""
    told = (remark for remark in dump.rows(Remark) if remark.kind != "passed" and remark.code not in CHOICES)
    remarks = sorted(told, key=lambda remark: remark.kind != "missed")
    if not misses and not remarks:
        return
    yield styled(f"What it missed, {order_words(misses)}" if misses else "What it missed", style="bold")
    wanted = {(miss.graph, name) for miss in misses[:_MISSES] for name in miss.nodes}
    where = {
        (node.graph, node.name): node.where
        for graph in (graphs if wanted else ())
        for node in dump.rows(Node, graph.graph)
        if (node.graph, node.name) in wanted and node.stage == "post_grad"
    }
    for miss in misses[:_MISSES]:
        yield _miss(miss, where, dump, graphs, dump_argument)
    if len(misses) > _MISSES:
        left = len(misses) - _MISSES
        more_pairs = f" … {'at least ' * is_cut}{number_of(left, 'more pair')} with bytes in common"
        yield Claim(styled(more_pairs, "dim"), command(dump_argument, "fusion"))
    same = Counter((remark.where, remark.message) for remark in remarks)  # a line that runs twice says it twice
    for (where_of, message), times in list(same.items())[:_REMARKS]:
        place = f"{file_name(where_of)}  " if where_of else ""
        again = (f"   {times} times", "dim") if times > 1 else ""
        yield Claim(
            joined((" ● ", "cyan"), (place, "dim"), one_line(message), again), command(dump_argument, "remarks")
        )
    if len(same) > _REMARKS:
        left = len(remarks) - sum(list(same.values())[:_REMARKS])
        yield Claim(styled(f" … {number_of(left, 'more remark')}", "dim"), command(dump_argument, "remarks"))


def _miss(
    miss: Miss,
    where: dict[tuple[str, str], Location | None],
    dump: "Dump",
    graphs: list[Graph],
    dump_argument: str,
) -> Claim:
    place = next((place_text(found) for name in miss.nodes if (found := where.get((miss.graph, name)))), "")
    loops = (
        "in two loops of one launch" if miss.one_kernel else "in another launch" if miss.handed else "in two launches"
    )
    if miss.handed:
        told = f"{miss.b} reads {_few(miss.handed)} that {miss.a} wrote {loops}"
    else:
        told = f"{miss.a} and {miss.b} read {_few(miss.buffers)} {loops}"
    told += f": {miss_words(miss)}"
    score = f" (torch's score {score_words(miss)})" if score_words(miss) else ""
    outer = next(graph for graph in graphs if graph.graph == miss.graph.split("/")[0])
    which = ("--graph", ShortNames(dump).of(outer)) if len(outermost(dump)) > 1 else ()
    evidence = why_command(dump_argument, miss.a, miss.b, *which)
    text = joined(
        (" ▲ ", "yellow"),
        (f"{saved_words(miss):>7}", "bold"),
        (f"{score}  ", "dim"),
        (f"{place}  " if place else "", "dim"),
        clean(told),
    )
    return Claim(text, evidence)


def _few(names: tuple[str, ...]) -> str:
    return few(names, 3, " ")


def _nothing(dump: "Dump", why: Why, dump_argument: str) -> Iterator[RenderableType]:
    """Why a dump has no graphs, and what to do."""
    style = "red" if why.table else ""
    evidence = command(dump_argument, why.table) if why.table else ""
    if dump.other_processes and not evidence:
        evidence = f"show {dump.other_processes[0]}"
    yield Claim(styled(f"No graph was compiled: {one_line(why.text)}", style), evidence)
    if why.to_do:
        yield Claim(styled(f"To do: {one_line(why.to_do)}", "yellow"))
