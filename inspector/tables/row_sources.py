"""What `show --json` prints for each table: rows of an analysis, or facts.

An analysis is imported when its table is asked for.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from inspect_compile.analysis.dumps.graphs import graphs_of
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

if TYPE_CHECKING:
    import msgspec

    from inspect_compile.dump import Dump

Rows = Callable[..., "Iterable[msgspec.Struct]"]
"""Of a dump and a graph, with the table's options as keywords."""


def _of(where: str) -> Rows:
    """The rows that a function of the analyses gives, which takes the options of the table: `module:function`."""
    return lambda dump, graph, **options: _load(where)(dump, graph, **options)


def _each(where: str) -> Rows:
    """The rows that a function of the analyses gives for each graph: `module:function`."""
    return lambda dump, graph: (row for found in graphs_of(dump, graph) for row in _load(where)(dump, found.graph))


def _load(where: str) -> Rows:
    module, _, name = where.partition(":")
    function: Rows = getattr(importlib.import_module(f"inspect_compile.analysis.{module}"), name)
    return function


def _facts(*kinds: type[Fact]) -> Rows:
    def rows(dump: "Dump", graph: str | None) -> Iterator[Fact]:
        for found in graphs_of(dump, graph):
            for kind in kinds:
                yield from dump.rows(kind, found.graph)

    return rows


def _dynamo(*kinds: type[Fact]) -> Rows:
    """Dynamo's facts belong to compile ids: for a graph, those of its compile."""

    def rows(dump: "Dump", graph: str | None) -> list[Fact]:
        facts = [row for kind in kinds for row in dump.rows(kind)]
        order = {compile_id: index for index, compile_id in enumerate(dict.fromkeys(row.graph for row in facts))}
        if graph is not None:
            wanted = {found.compile_id for found in graphs_of(dump, graph)}
            facts = [row for row in facts if row.graph in wanted]
        return sorted(facts, key=lambda row: order[row.graph])

    return rows


def _overview(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.tables.overview.overview import overview_rows

    return overview_rows(dump, graph)


def _summaries(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.overview.summary import summarize_run

    yield summarize_run(dump)
    yield from _graphs(dump, graph)


def _graphs(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.overview.summary import summarize

    for found in graphs_of(dump, graph):
        yield summarize(dump, found)


def _graph_facts(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    for found in dump.graphs():
        if graph is None or found.graph == graph or found.graph.startswith(f"{graph}/"):
            yield found
            if (end := dump.graph_end(found.graph)) is not None:
                yield end


def _fusion(
    dump: "Dump", graph: str | None, reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.fusion.ledger import candidates
    from inspect_compile.analysis.fusion.outcome import fusion
    from inspect_compile.analysis.lookup.attempts import find_attempts
    from inspect_compile.tables.lookup_text import only

    asked = only(find_attempts(dump, graph, reason=reason, line=line, in_round=in_round))
    for found in graphs_of(dump, graph):
        yield from filter(asked, candidates(dump, found.graph))
        if asked.is_all:
            summed_up = fusion(dump, found.graph)
            yield from summed_up.misses
            yield from summed_up.refusals


def _flops(dump: "Dump", graph: str | None, by: str | None = None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.cost.flop_rows import flop_rows
    from inspect_compile.analysis.cost.flops import graph_flops
    from inspect_compile.analysis.cost.rollup import Costs

    for found in graphs_of(dump, graph):
        yield from flop_rows(graph_flops(dump, found.graph)) if by is None else Costs(dump, found.graph).by(by)


def _realize(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.lowering.inlining import inlined

    for found in graphs_of(dump, graph):
        yield from dump.rows(Realize, found.graph)
        yield from inlined(dump, found.graph).values()


def _memory(dump: "Dump", graph: str | None, at: str | None = None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.lookup.moments import find_moments
    from inspect_compile.analysis.memory.holders import holders
    from inspect_compile.analysis.memory.plan import memory
    from inspect_compile.analysis.memory.saved import activations
    from inspect_compile.tables.lookup_text import resolved

    if at is not None:
        found_at = resolved(find_moments(dump, at, graph))
        yield from (row for _, _, now in found_at if now is not None for row in now.holders)
        return
    for found in graphs_of(dump, graph):
        held = memory(dump, found.graph)
        yield from held.steps
        yield from holders(dump, found.graph, held)
        kept = activations(dump, found.graph) if found.kind == "forward" else None
        yield from kept.kept if kept is not None else ()


def _pass_facts(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    """The passes of a compile, once even if it made several graphs."""
    found = graphs_of(dump, graph)
    for compile_id in dict.fromkeys(one.compile_id for one in found):
        yield from dump.rows_of_compile(Pass, compile_id)
    for one in found:
        yield from dump.rows(Pass, one.graph)


def _numerics(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.numerics.causes import causes
    from inspect_compile.analysis.numerics.coverage import uncompared
    from inspect_compile.analysis.numerics.statements import kernel_statements
    from inspect_compile.analysis.numerics.verdicts import judged

    yield from judged(dump, graph)
    yield from uncompared(dump, graph)
    yield from kernel_statements(dump, graph)
    yield from (row for row in dump.rows(LoadedLine) if graph in (None, row.graph))
    yield from (row for row in dump.rows(KeptInputs) if graph in (None, row.graph))
    yield from causes(dump, graph)


def _calls(dump: "Dump", graph: str | None) -> "Iterator[msgspec.Struct]":
    from inspect_compile.analysis.frontend.call_path import call_rows

    for made in call_rows(dump, graph).values():
        yield from made


def _call_facts(dump: "Dump", graph: str | None) -> list[Call]:
    wanted = {found.compile_id or "" for found in graphs_of(dump, graph)}
    return [row for row in dump.rows(Call) if graph is None or row.graph in wanted]


def _passes(dump: "Dump", graph: str | None) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.passes.changes import pass_rows

    return pass_rows(dump, graphs_of(dump, graph))


def _hooks(dump: "Dump", graph: str | None) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.dumps.rows import hooks

    return hooks(dump)


def _ranks(dump: "Dump", graph: str | None) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.compare.ranks import rank_rows

    return rank_rows(dump)


def _roofline(dump: "Dump", graph: str | None, **options: Any) -> "Iterable[msgspec.Struct]":
    from inspect_compile.tables.cost.roofline import roofline_rows

    return roofline_rows(dump, graph, **options)


def _findings(dump: "Dump", graph: str | None, *, kinds: bool | None = None) -> "Iterable[msgspec.Struct]":
    if kinds:
        from inspect_compile.analysis.overview.looked_for import looked_for

        return looked_for(dump)
    from inspect_compile.analysis.findings.every import findings

    return findings(dump, graph)


def _settings(dump: "Dump", graph: str | None) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.frontend.traced import setting_rows

    return setting_rows(dump)


ROWS: Final[dict[str, Rows]] = {
    "overview": _overview,
    "summary": _summaries,
    "findings": _findings,
    "graphs": _graphs,
    "dynamo": _of("frontend.dynamo_rows:dynamo_rows"),
    "guards": _of("frontend.guards:guard_rows"),
    "caches": _of("caches.lookups:cache_rows"),
    "aot": _of("frontend.aot_rows:aot_rows"),
    "artifacts": _of("frontend.traced:artifact_rows"),
    "metrics": _of("frontend.traced:metric_rows"),
    "settings": _settings,
    "calls": _calls,
    "passes": _passes,
    "nodes": _each("dumps.rows:lowered_nodes"),
    "symbols": _each("dumps.rows:symbols"),
    "lowering": _each("lowering.rows:lowering_rows"),
    "realize": _realize,
    "schedule": _each("cost.schedule_rows:schedule_rows"),
    "fusion": _fusion,
    "kernels": _each("cost.kernel_rows:kernel_rows"),
    "binaries": _each("kernels.binaries:configurations"),
    "autotune": _each("kernels.autotuning:autotuned"),
    "wrapper": _facts(WrapperLine, MemoryPlan),
    "flops": _flops,
    "traffic": _of("fusion.graph_bytes:traffic_rows"),
    "flame": _of("cost.flame:flames"),
    "roofline": _roofline,
    "memory": _memory,
    "time": _of("frontend.time_sums:time_rows"),
    "measured": _of("runtime.measured:measured_rows"),
    "steps": _of("runtime.step_of_dump:account_rows"),
    "numerics": _numerics,
    "nonfinite": _of("numerics.nonfinite:nonfinite_facts"),
    "cudagraphs": _of("runtime.cudagraphs:cudagraph_rows"),
    "remarks": _of("overview.remarks:remark_rows"),
    "ranks": _ranks,
    "replays": _of("compare.replays:replay_rows"),
    "tried": _of("compare.tried:tried_rows"),
    "trials": _of("compare.tried:trial_rows"),
    "overhead": _hooks,
}
"""Name of a table → its rows."""

FACTS: Final[dict[str, Rows]] = {
    "cudagraphs": _of("runtime.cudagraphs:cudagraphs"),
    "flops": _facts(Lowering),
    "schedule": _facts(Operation),
    "fusion": _facts(FusionRound, FusionLooks, FusionOrder, FusionCombo),
    "dynamo": _dynamo(
        Frame, Skip, GuardedCalls, GraphBreak, Recompile, SideEffect, ShapeGuard, CacheLookup, KernelLookup
    ),
    "aot": _dynamo(AotMetadata),
    "artifacts": _dynamo(Artifact),
    "metrics": _dynamo(Metrics),
    "settings": lambda dump, graph: dump.rows(Settings),
    "graphs": _graph_facts,
    "guards": _dynamo(Guard),
    "calls": _call_facts,
    "kernels": _facts(Kernel),
    "binaries": _facts(Binary),
    "autotune": _facts(Tuning, Choice, Chosen),
    "lowering": _facts(Lowering),
    "nodes": _facts(Node),
    "passes": _pass_facts,
    "realize": _facts(Realize),
    "memory": lambda dump, graph: [
        *_facts(WrapperLine, MemoryPlan)(dump, graph),
        *_dynamo(Partition, Saved)(dump, graph),
    ],
}
"""Name of a table → the facts that its rows are made of, for `show --facts`; missing are those whose rows are facts."""
