"""Figures of a graph and of a run."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.dumps.hooks import disabled, hooks
from inspect_compile.analysis.dumps.run_state import compile_status, run_state
from inspect_compile.analysis.fusion.outcome import GraphFusion, fusion
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.analysis.overview.eager import eager, eager_calls
from inspect_compile.analysis.overview.records import GraphSummary, RunSummary
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Graph, GraphBreak, GuardedCalls, Kernel, Operation, Recompile, Remark
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.launches import distinct


def summarize_run(dump: Dump) -> RunSummary:
    """Figures that concern all graphs."""
    run, own = dump.run, hooks(dump)
    without, counted = eager_calls(dump)
    return RunSummary(
        status=run.status,
        argv=run.argv,
        versions=run.versions,
        seconds=run.seconds,
        probe_seconds=round(sum(hook.seconds for hook in own), 6),
        failed_hooks=len(disabled(dump)),
        graphs=len(dump.outermost()),
        frames=dict(Counter(frame.status for frame in dump.rows(Frame))),
        graph_breaks=len(dump.rows(GraphBreak)),
        recompiles=recompiles(dump),
        remarks=dict(Counter(remark.kind for remark in dump.rows(Remark))),
        notes=run.notes,
        omitted=run.omitted,
        eager=eager(dump),
        eager_calls=sum(without.values()),
        eager_calls_why=without,
        checked_calls=counted,
        uncounted_functions=sum(row.uncounted for row in dump.rows(GuardedCalls)),
        broken_lines=len({(row.where and (row.where.file, row.where.line)) for row in dump.rows(GraphBreak)}),
    )


def recompiles(dump: Dump) -> int:
    """How often frames were compiled again, including compiles that a limit kept out of the dump; not those that torch
    gave up.
    """
    more = sum(row.count or 0 for row in dump.run.omitted if row.what == "compiles")
    stopped = {frame.graph for frame in dump.rows(Frame) if frame.limit}
    return sum(row.graph not in stopped for row in dump.rows(Recompile)) + more


class Incomplete(msgspec.Struct, frozen=True):
    """A graph that is not complete: its compile did not end well, or not all of its nodes are accounted for."""

    graph: Graph
    status: str
    """See `GraphSummary.status`."""
    accounted: float
    """Share of nodes accounted for, between 0 and 1."""


def incomplete(dump: Dump, graphs: Iterable[CompiledGraph]) -> list[Incomplete]:
    """The incomplete graphs among `graphs`, in order."""
    is_growing = run_state(dump).is_growing
    found = []
    for graph in graphs:
        status = compile_status(dump.graph_end(graph.name), is_growing=is_growing)
        share = coverage(graph).share if status == "compiled" else 1.0
        if status != "compiled" or share < 1:
            found.append(Incomplete(graph.fact, status, share))
    return found


def summarize(graph: CompiledGraph, fused: GraphFusion | None = None) -> GraphSummary:
    """Figures of one outermost graph; `fused` is the result of `fusion` for it, if already known."""
    name, end = graph.name, graph.dump.graph_end(graph.name)
    operations = graph.dump.rows(Operation, name)
    covered, flops, moved = (
        coverage(CompiledGraph(graph.dump, name)),
        graph_flops(CompiledGraph(graph.dump, name)),
        CompiledGraph(graph.dump, name).traffic,
    )
    fused, held = fused or fusion(CompiledGraph(graph.dump, name)), CompiledGraph(graph.dump, name).memory
    kernels = distinct(graph.dump.rows(Kernel, name))
    return GraphSummary(
        graph=name,
        kind=graph.fact.kind,
        compile_id=graph.fact.compile_id,
        device=graph.fact.device,
        status=compile_status(end, is_growing=run_state(graph.dump).is_growing),
        exception=end.exception if end is not None else None,
        seconds=end.seconds if end is not None else None,
        nested=len(graph.dump.nested(name)),
        nodes=len(covered.nodes),
        operations=sum(row.phase == "pre_fusion" for row in operations),
        groups=sum(row.phase == "post_fusion" for row in operations),
        kernels=dict(Counter(kind for kind, _, _ in sorted(kernels))),
        launches=sum(launch.line is not None for launch in moved.launches),
        flops=flops.total,
        flops_by_kind=flops.kinds,
        flops_uncounted=sum(sum(counts.values()) for counts in flops.uncounted.values()),
        moved_bytes=moved.moved,
        least_bytes=moved.least,
        unknown_launches=moved.unknown,
        peak_bytes=held.peak,
        peak_line=held.peak_line,
        allocated_bytes=held.allocated,
        accounted=covered.share,
        missing=tuple(node.node for node in covered.missing),
        unknown_lines=tuple(row.line for row in covered.unknown if row.line is not None),
        fused=len(fused.fused),
        refused=fused.verdicts.get("refused", 0),
        missed_pairs=len(fused.apart),
    )
