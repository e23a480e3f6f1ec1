"""What `show --json` prints for each table: facts, or rows of an analysis for derived tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.kernel_rows import kernel_rows
from inspect_compile.analysis.cost.rollup import Costs
from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.hooks import hooks
from inspect_compile.analysis.dumps.symbols import symbols
from inspect_compile.analysis.frontend.call_path import compiles
from inspect_compile.analysis.frontend.times import Part, parts, stage_times
from inspect_compile.analysis.fusion.attempt_filter import FusionFilter
from inspect_compile.analysis.fusion.ledger import candidates
from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.analysis.kernels.binaries import configurations
from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.analysis.lowering.rows import lowered_nodes, lowering_rows
from inspect_compile.analysis.memory.holders import holders
from inspect_compile.analysis.memory.plan import memory
from inspect_compile.analysis.memory.remarks import memory_remarks
from inspect_compile.analysis.memory.saved import activations
from inspect_compile.analysis.overview.summary import summarize, summarize_run
from inspect_compile.analysis.passes.changes import pass_rows
from inspect_compile.analysis.runtime.collectives import collective_remarks
from inspect_compile.facts import (
    CacheLookup,
    Fact,
    Frame,
    GraphBreak,
    Guard,
    Kernel,
    Lowering,
    MemoryPlan,
    Node,
    Operation,
    Partition,
    Pass,
    Realize,
    Recompile,
    Remark,
    Saved,
    Skip,
    WrapperLine,
)

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

Rows = Callable[..., Iterable[msgspec.Struct]]
"""Of a dump and a graph, with the table's options as keywords."""


def _facts(*kinds: type[Fact]) -> Rows:
    def rows(dump: "Dump", graph: str | None) -> Iterator[Fact]:
        for found in graphs_of(dump, graph):
            for kind in kinds:
                yield from dump.rows(kind, found.graph)

    return rows


def _each(of_graph: "Callable[[Dump, str], Iterable[msgspec.Struct]]") -> Rows:
    """The rows that a function gives for each graph."""
    return lambda dump, graph: (row for found in graphs_of(dump, graph) for row in of_graph(dump, found.graph))


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


def _everywhere(kind: type[Fact]) -> Rows:
    def rows(dump: "Dump", graph: str | None) -> list[Fact]:
        found: list[Fact] = list(dump.rows(kind))
        if graph is None:
            return found
        meant = {"", graph, *(row.compile_id for row in graphs_of(dump, graph))}
        return [row for row in found if row.graph in meant or row.graph.startswith(f"{graph}/")]

    return rows


def _summaries(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    yield summarize_run(dump)
    for found in graphs_of(dump, graph):
        yield summarize(dump, found)


def _graphs(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in dump.graphs():
        if graph is None or found.graph == graph or found.graph.startswith(f"{graph}/"):
            yield found
            if (end := dump.graph_end(found.graph)) is not None:
                yield end


def _binaries(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from configurations(dump, found.graph)


def _kernels(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from kernel_rows(dump, found.graph)


def _autotuned(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from autotuned(dump, found.graph)


def _candidates(
    dump: "Dump", graph: str | None, reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> Iterable[msgspec.Struct]:
    asked = FusionFilter.of(dump, graph, reason=reason, line=line, in_round=in_round)
    rows = (row for found in graphs_of(dump, graph) for row in candidates(dump, found.graph))
    return (row for row in rows if asked is None or asked(row))


def _flops(dump: "Dump", graph: str | None, by: str | None = None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from graph_flops(dump, found.graph).operators if by is None else Costs(dump, found.graph).by(by)


def _realize(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from dump.rows(Realize, found.graph)
        yield from inlined(dump, found.graph).values()


def _memory(dump: "Dump", graph: str | None, at: str | None = None) -> Iterator[msgspec.Struct]:
    if at is not None:
        from inspect_compile.tables.memory.memory import moments

        yield from (row for _, _, now in moments(dump, graph, at) if now is not None for row in now.holders)
        return
    for found in graphs_of(dump, graph):
        held = memory(dump, found.graph)
        yield from held.steps
        yield from holders(dump, found.graph, held)
        kept = activations(dump, found.graph) if found.kind == "forward" else None
        yield from kept.kept if kept is not None else ()


def _times(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    found = parts(dump)
    of_compile: dict[str, list[Part]] = {}
    for part in found:
        of_compile.setdefault(part.graph, []).append(part)
    compiles = dict.fromkeys(of_compile)
    if graph is not None:
        compiles = dict.fromkeys(facts.compile_id or "" for facts in graphs_of(dump, graph))
    for compile_id in compiles:
        own = of_compile.get(compile_id, [])
        yield from stage_times(own, compile_id)
        yield from own


def _pass_facts(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    """The passes of a compile, once even if it made several graphs."""
    found = graphs_of(dump, graph)
    for compile_id in dict.fromkeys(one.compile_id for one in found):
        yield from dump.rows_of_compile(Pass, compile_id)
    for one in found:
        yield from dump.rows(Pass, one.graph)


def _calls(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    wanted = None if graph is None else {found.compile_id or "" for found in graphs_of(dump, graph)}
    for compile_id, made in compiles(dump).items():
        if wanted is None or compile_id in wanted:
            yield from made


def _ranks(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    from inspect_compile.analysis.compare.ranks import agreement, summarize_rank
    from inspect_compile.analysis.dumps.parts import as_compiled

    there = as_compiled(dump)
    if there:
        found = agreement(there)
        yield from (summarize_rank(part, found.same_as(rank)) for rank, part in sorted(there.items()))
        yield from found.differences


def _replays(dump: "Dump", graph: str | None) -> Iterable[msgspec.Struct]:
    from inspect_compile.tables.compare.replays import replay_rows

    return replay_rows(dump, graph)


def _traffic(dump: "Dump", graph: str | None, **options: Any) -> Iterable[msgspec.Struct]:
    from inspect_compile.tables.cost.traffic import traffic_rows

    return traffic_rows(dump, graph, **options)


def _roofline(dump: "Dump", graph: str | None, **options: Any) -> Iterable[msgspec.Struct]:
    from inspect_compile.tables.cost.roofline import roofline_rows

    return roofline_rows(dump, graph, **options)


def _measured(dump: "Dump", graph: str | None, **options: Any) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.runtime.measured import measured_rows

    return measured_rows(dump, graph, **options)


def _cudagraphs(dump: "Dump", graph: str | None) -> "Iterable[msgspec.Struct]":
    from inspect_compile.analysis.runtime.cudagraphs import cudagraphs

    return cudagraphs(dump, graph)


ROWS: Final[dict[str, Rows]] = {
    "summary": _summaries,
    "graphs": _graphs,
    "dynamo": _dynamo(Frame, Skip, GraphBreak, Recompile, CacheLookup),
    "guards": _dynamo(Guard),
    "calls": _calls,
    "passes": lambda dump, graph: pass_rows(dump, graphs_of(dump, graph)),
    "nodes": _each(lowered_nodes),
    "symbols": _each(symbols),
    "lowering": _each(lowering_rows),
    "realize": _realize,
    "schedule": _facts(Operation),
    "fusion": _candidates,
    "kernels": _kernels,
    "binaries": _binaries,
    "autotune": _autotuned,
    "wrapper": _facts(WrapperLine, MemoryPlan),
    "flops": _flops,
    "traffic": _traffic,
    "roofline": _roofline,
    "memory": _memory,
    "time": _times,
    "measured": _measured,
    "cudagraphs": _cudagraphs,
    "remarks": lambda dump, graph: [
        *_everywhere(Remark)(dump, graph),
        *memory_remarks(dump, graph),
        *collective_remarks(dump, graph),
    ],
    "ranks": _ranks,
    "replays": _replays,
    "overhead": lambda dump, graph: hooks(dump),
}
"""Name of a table → its rows."""

FACTS: Final[dict[str, Rows]] = {
    "kernels": _facts(Kernel),
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
