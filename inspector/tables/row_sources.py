"""What `show --json` prints for each table: rows of an analysis, or facts.

An analysis is imported when its table is asked for.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from inspect_compile.facts import (
    AotMetadata,
    Artifact,
    Binary,
    CacheLookup,
    Call,
    Choice,
    Chosen,
    Fact,
    Frame,
    FusionCombo,
    FusionLooks,
    FusionOrder,
    FusionRound,
    GraphBreak,
    Guard,
    GuardedCalls,
    KeptInputs,
    Kernel,
    KernelLookup,
    LoadedLine,
    Lowering,
    MemoryPlan,
    Metrics,
    Node,
    Operation,
    Partition,
    Pass,
    Realize,
    Recompile,
    Saved,
    Settings,
    ShapeGuard,
    SideEffect,
    Skip,
    Tuning,
    WrapperLine,
)
from inspect_compile.graph import Graphs

if TYPE_CHECKING:
    import msgspec


Rows = Callable[..., "Iterable[msgspec.Struct]"]
"""Of the graphs in question, with the table's options as keywords."""


def _of(where: str) -> Rows:
    """The rows that a function of the analyses gives, which takes the options of the table: `module:function`."""
    return lambda graphs, **options: _load(where)(graphs, **options)


def _of_dump(where: str) -> Rows:
    """The rows that a function of the analyses gives for the whole dump: `module:function`."""
    return lambda graphs: _load(where)(graphs.dump)


def _each(where: str) -> Rows:
    """The rows that a function of the analyses gives for each graph: `module:function`."""
    return lambda graphs: (row for graph in graphs for row in _load(where)(graph))


def _load(where: str) -> Callable[..., Any]:
    module, _, name = where.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(f"inspect_compile.{module}"), name)
    return function


def _facts(*kinds: type[Fact]) -> Rows:
    return lambda graphs: (row for graph in graphs for kind in kinds for row in graph.rows(kind))


def _dynamo(*kinds: type[Fact]) -> Rows:
    """Dynamo's facts belong to compile ids: for a graph, those of its compile."""

    def rows(graphs: "Graphs") -> list[Fact]:
        facts: list[Fact] = [row for kind in kinds for row in graphs.of_compiles(kind)]
        order = {compile_id: index for index, compile_id in enumerate(dict.fromkeys(row.graph for row in facts))}
        return sorted(facts, key=lambda row: order[row.graph])

    return rows


def _summaries(graphs: "Graphs") -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.overview.summary import summarize, summarize_run

    yield summarize_run(graphs.dump)
    yield from map(summarize, graphs)


def _graph_facts(graphs: "Graphs") -> "Iterator[msgspec.Struct]":
    for found in graphs.dump.graphs():
        if graphs.name is None or found.graph == graphs.name or found.graph.startswith(f"{graphs.name}/"):
            yield found
            if (end := graphs.dump.graph_end(found.graph)) is not None:
                yield end


def _fusion(
    graphs: "Graphs", reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.fusion.outcome import fusion
    from inspect_compile.analysis.lookup.attempts import find_attempts
    from inspect_compile.graph.fusion.ledger import candidates
    from inspect_compile.tables.lookup_text import only

    asked = only(find_attempts(graphs, reason=reason, line=line, in_round=in_round))
    for found in graphs:
        yield from filter(asked, candidates(found))
        if asked.is_all:
            summed_up = fusion(found)
            yield from summed_up.misses
            yield from summed_up.refusals


def _flops(graphs: "Graphs", by: str | None = None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.cost.flop_rows import flop_rows
    from inspect_compile.analysis.cost.flops import graph_flops
    from inspect_compile.analysis.cost.rollup import Costs

    for found in graphs:
        yield from (flop_rows(graph_flops(found)) if by is None else Costs(found).by(by))


def _realize(graphs: "Graphs") -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.lowering.inlining import inlined

    for found in graphs:
        yield from found.rows(Realize)
        yield from inlined(found).values()


def _memory(graphs: "Graphs", at: str | None = None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.lookup.moments import find_moments
    from inspect_compile.analysis.memory.holders import holders
    from inspect_compile.analysis.memory.saved import activations
    from inspect_compile.tables.lookup_text import resolved

    if at is not None:
        found_at = resolved(find_moments(graphs, at))
        yield from (row for _, _, now in found_at if now is not None for row in now.holders)
        return
    for found in graphs:
        held = found.memory
        yield from held.steps
        yield from holders(found, held)
        kept = activations(found) if found.fact.kind == "forward" else None
        yield from kept.kept if kept is not None else ()


def _pass_facts(graphs: "Graphs") -> "Iterator[msgspec.Struct]":
    """The passes of a compile, once even if it made several graphs."""
    for compile_id in dict.fromkeys(one.compile_id for one in graphs.facts):
        yield from graphs.dump.rows_of_compile(Pass, compile_id)
    for graph in graphs:
        yield from graph.rows(Pass)


def _numerics(graphs: "Graphs") -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.numerics.causes import causes
    from inspect_compile.analysis.numerics.coverage import uncompared
    from inspect_compile.analysis.numerics.statements import kernel_statements
    from inspect_compile.analysis.numerics.verdicts import judged

    yield from judged(graphs)
    yield from uncompared(graphs)
    yield from kernel_statements(graphs)
    yield from graphs.alone(LoadedLine)
    yield from graphs.alone(KeptInputs)
    yield from causes(graphs)


def _findings(graphs: "Graphs", *, kinds: bool | None = None) -> "Iterable[msgspec.Struct]":
    if kinds:
        from inspect_compile.analysis.overview.looked_for import looked_for

        return looked_for(graphs.dump)
    from inspect_compile.analysis.findings.every import findings

    return findings(graphs)


ROWS: Final[dict[str, Rows]] = {
    "overview": _of("tables.overview.overview:overview_rows"),
    "summary": _summaries,
    "findings": _findings,
    "graphs": lambda graphs: map(_load("analysis.overview.summary:summarize"), graphs),
    "dynamo": _of("analysis.frontend.dynamo_rows:dynamo_rows"),
    "guards": _of("analysis.frontend.guards:guard_rows"),
    "caches": _of("analysis.caches.lookups:cache_rows"),
    "aot": _of("analysis.frontend.aot_rows:aot_rows"),
    "artifacts": _of("analysis.frontend.traced:artifact_rows"),
    "metrics": _of("analysis.frontend.traced:metric_rows"),
    "settings": _of_dump("analysis.frontend.traced:setting_rows"),
    "calls": lambda graphs: (
        row for rows in _load("analysis.frontend.call_path:call_rows")(graphs).values() for row in rows
    ),
    "passes": _of("graph.passes.changes:pass_rows"),
    "nodes": lambda graphs: (row for graph in graphs for row in graph.nodes),
    "symbols": lambda graphs: (row for graph in graphs for row in graph.symbols),
    "lowering": _each("analysis.lowering.rows:lowering_rows"),
    "realize": _realize,
    "schedule": _each("analysis.cost.schedule_rows:schedule_rows"),
    "fusion": _fusion,
    "kernels": _each("analysis.cost.kernel_rows:kernel_rows"),
    "binaries": _each("graph.kernels.binaries:configurations"),
    "autotune": _each("analysis.kernels.autotuning:autotuned"),
    "wrapper": _facts(WrapperLine, MemoryPlan),
    "flops": _flops,
    "traffic": _of("analysis.fusion.graph_bytes:traffic_rows"),
    "flame": _of("analysis.cost.flame:flames"),
    "roofline": _of("tables.cost.roofline:roofline_rows"),
    "memory": _memory,
    "time": _of("analysis.frontend.time_sums:time_rows"),
    "measured": _of("analysis.runtime.measured:measured_rows"),
    "steps": _of("analysis.runtime.step_of_dump:account_rows"),
    "numerics": _numerics,
    "nonfinite": _of("analysis.numerics.nonfinite:nonfinite_facts"),
    "cudagraphs": _of("analysis.runtime.cudagraphs:cudagraph_rows"),
    "remarks": _of("analysis.overview.remarks:remark_rows"),
    "ranks": _of_dump("analysis.compare.ranks:rank_rows"),
    "replays": _of("analysis.compare.replays:replay_rows"),
    "tried": _of("analysis.compare.tried:tried_rows"),
    "trials": _of("analysis.compare.tried:trial_rows"),
    "overhead": _of_dump("analysis.dumps.hooks:hooks"),
}
"""Name of a table → its rows."""

FACTS: Final[dict[str, Rows]] = {
    "cudagraphs": _of("analysis.runtime.cudagraphs:cudagraphs"),
    "flops": _facts(Lowering),
    "schedule": _facts(Operation),
    "fusion": _facts(FusionRound, FusionLooks, FusionOrder, FusionCombo),
    "dynamo": _dynamo(
        Frame, Skip, GuardedCalls, GraphBreak, Recompile, SideEffect, ShapeGuard, CacheLookup, KernelLookup
    ),
    "aot": _dynamo(AotMetadata),
    "artifacts": _dynamo(Artifact),
    "metrics": _dynamo(Metrics),
    "settings": lambda graphs: graphs.dump.rows(Settings),
    "graphs": _graph_facts,
    "guards": _dynamo(Guard),
    "calls": lambda graphs: graphs.of_compiles(Call),
    "kernels": _facts(Kernel),
    "binaries": _facts(Binary),
    "autotune": _facts(Tuning, Choice, Chosen),
    "lowering": _facts(Lowering),
    "nodes": _facts(Node),
    "passes": _pass_facts,
    "realize": _facts(Realize),
    "memory": lambda graphs: [*_facts(WrapperLine, MemoryPlan)(graphs), *_dynamo(Partition, Saved)(graphs)],
}
"""Name of a table → the facts that its rows are made of, for `show --facts`; missing are those whose rows are facts."""
