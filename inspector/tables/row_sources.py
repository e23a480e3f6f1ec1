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
from inspect_compile.analysis.frontend.call_path import call_rows
from inspect_compile.analysis.frontend.dynamo_rows import dynamo_rows
from inspect_compile.analysis.frontend.guards import guard_rows
from inspect_compile.analysis.frontend.time_sums import time_rows
from inspect_compile.analysis.fusion.attempt_filter import FusionFilter
from inspect_compile.analysis.fusion.ledger import candidates
from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.analysis.kernels.binaries import configurations
from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.analysis.memory.holders import holders
from inspect_compile.analysis.memory.plan import memory
from inspect_compile.analysis.memory.saved import activations
from inspect_compile.analysis.overview.remarks import remark_rows
from inspect_compile.analysis.overview.summary import summarize, summarize_run
from inspect_compile.facts import (
    CacheLookup,
    Call,
    Fact,
    Frame,
    GraphBreak,
    Guard,
    Kernel,
    Lowering,
    MemoryPlan,
    Node,
    Operation,
    Pass,
    Realize,
    Recompile,
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


def _summaries(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    yield summarize_run(dump)
    yield from _graphs(dump, graph)


def _graphs(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield summarize(dump, found)


def _graph_facts(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
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


def _symbols(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for found in graphs_of(dump, graph):
        yield from symbols(dump, found.graph)


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


def _passes(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    """The passes of a compile, once even if it made several graphs."""
    compiles = dict.fromkeys(found.compile_id for found in graphs_of(dump, graph))
    for compile_id in compiles:
        yield from dump.rows_of_compile(Pass, compile_id)
    for found in graphs_of(dump, graph):
        yield from dump.rows(Pass, found.graph)


def _calls(dump: "Dump", graph: str | None) -> Iterator[msgspec.Struct]:
    for made in call_rows(dump, graph).values():
        yield from made


def _call_facts(dump: "Dump", graph: str | None) -> list[Call]:
    wanted = {found.compile_id or "" for found in graphs_of(dump, graph)}
    return [row for row in dump.rows(Call) if graph is None or row.graph in wanted]


def _ranks(dump: "Dump", graph: str | None) -> Iterable[msgspec.Struct]:
    from inspect_compile.analysis.compare.ranks import rank_rows

    return rank_rows(dump)


def _replays(dump: "Dump", graph: str | None) -> Iterable[msgspec.Struct]:
    from inspect_compile.analysis.compare.replays import replay_rows

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
    "dynamo": dynamo_rows,
    "guards": guard_rows,
    "calls": _calls,
    "passes": _passes,
    "nodes": _facts(Node),
    "symbols": _symbols,
    "lowering": _facts(Lowering),
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
    "time": time_rows,
    "measured": _measured,
    "cudagraphs": _cudagraphs,
    "remarks": remark_rows,
    "ranks": _ranks,
    "replays": _replays,
    "overhead": lambda dump, graph: hooks(dump),
}
"""Name of a table → its rows."""

FACTS: Final[dict[str, Rows]] = {
    "dynamo": _dynamo(Frame, Skip, GraphBreak, Recompile, CacheLookup),
    "graphs": _graph_facts,
    "guards": _dynamo(Guard),
    "calls": _call_facts,
    "kernels": _facts(Kernel),
}
"""Name of a table → the facts that its rows are made of, for `show --facts`; missing are those whose rows are facts."""
