"""What a program that still runs compiles at the moment: stage, graph, pass, kernels and time."""

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel, Pass, Timed, TimerBegan
from inspect_compile.graph.kernels.launches import distinct
from inspect_compile.knowledge.frontend.compile_stages import BUILDERS, PASSES, stage_of


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The compile that began last and has not ended."""

    compile_id: str
    """Empty if torch did not say."""
    graph: str
    """The graph that is being compiled; empty before Inductor has one."""
    kind: str
    """forward, backward or inference; empty without a graph."""
    stage: str
    stage_seconds: float
    seconds: float
    """Since the compile of the frame, or of the backward, began."""
    pass_name: str
    """The last pass over its graph; empty outside of that stage."""
    kernels: int
    """Number of the graph's kernels so far, library calls included: what the tree and the finished dump count."""
    building: int
    """Number of compilers of kernels that are running."""
    built: int
    """Number of them that have ended since the compile began."""


def progress(dump: Dump, now: float) -> Progress | None:
    """What is compiled at the time `now`, in seconds since the epoch; None if nothing is, or this was not recorded."""
    ended = {(row.name, row.start) for row in dump.rows(Timed)}
    begun = [row for row in dump.rows(TimerBegan) if (row.name, row.start) not in ended]
    main = [row for row in begun if row.name not in BUILDERS]
    if not main:
        return None
    first = min(row.start for row in main)
    stage = stage_of(begun[-1].name)
    since = next((row.start for row in begun if stage_of(row.name) == stage), begun[-1].start)
    compile_id = next((row.graph for row in reversed(begun) if row.graph), "")
    graphs = [row for row in dump.graphs_of_compile(compile_id or None) if dump.graph_end(row.graph) is None]
    graph: Graph | None = graphs[-1] if graphs else None
    passes = dump.rows(Pass, graph.graph) if graph is not None else []
    passes = passes or dump.rows_of_compile(Pass, compile_id or None)
    kernels = dump.rows(Kernel, graph.graph) if graph is not None else []
    return Progress(
        compile_id=compile_id,
        graph=graph.graph if graph is not None else "",
        kind=graph.kind if graph is not None else "",
        stage=stage,
        stage_seconds=max(0.0, now - since),
        seconds=max(0.0, now - first),
        pass_name=passes[-1].name if passes and stage == PASSES else "",
        kernels=len(distinct(kernels)),
        building=sum(row.name in BUILDERS for row in begun),
        built=sum(name in BUILDERS and start >= first for name, start in ended),
    )
