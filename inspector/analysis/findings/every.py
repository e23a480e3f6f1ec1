"""All findings of a dump: what each kind finds, equal ones as one, the most expensive first."""

import functools
from collections.abc import Callable, Iterator
from typing import Final

from inspect_compile.analysis.findings import (
    copies,
    fusions,
    oddities,
    operators,
    results,
    steps,
    tuned,
)
from inspect_compile.analysis.findings.attention import composed
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Called, Finding, merged
from inspect_compile.analysis.findings.frontend import (
    breaks,
    caches,
    ddp_cuts,
    failures,
    recompiles,
    repeated,
    slow_stages,
)
from inspect_compile.analysis.findings.gpu import (
    double_precision,
    half_precision,
    kernels,
    matmul_precision,
    second_stages,
)
from inspect_compile.analysis.findings.libraries import for_its_user
from inspect_compile.analysis.findings.memory import mutations
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame
from inspect_compile.facts.compile_id import frame_id
from inspect_compile.graph import CompiledGraph, Graphs, outermost
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.origins import ORIGINS
from inspect_compile.knowledge.overview.findings import ATTENTION, COPY, LAYOUT, MISSED_FUSION, PADDING

Kind = Callable[[Dump, list[CompiledGraph], Costs], Iterator[Finding]]
"""Finds what there is of one kind in these outermost graphs of a dump."""

KINDS: Final[tuple[Kind, ...]] = (
    failures.found,
    results.numerics,
    tuned.found,
    breaks.found,
    recompiles.recompiles,
    caches.caches,
    caches.cache_misses,
    composed.found,
    mutations.found,
    ddp_cuts.found,
    fusions.found,
    second_stages.found,
    copies.found,
    operators.found,
    kernels.spills,
    kernels.cudagraphs,
    results.memory,
    matmul_precision.found,
    half_precision.found,
    double_precision.found,
    steps.found,
    repeated.found,
    slow_stages.found,
    oddities.found,
)
"""Every kind of finding; new ones are added here."""


_MOVED: Final = (ATTENTION, MISSED_FUSION, COPY, LAYOUT, PADDING)
"""Kinds that cost bytes which kernels move."""
_LEAST_SHARE: Final = 0.002


def findings(graphs: Graphs) -> list[Finding]:
    """The findings of the graph that was asked for, its compile and the run; of all graphs, those of the whole dump."""
    if graphs.dump.lacking:
        # Of what is missing nothing is known, and so of nothing that rests on it.
        return list(oddities.lacking(graphs.dump))
    wanted, costs = list(graphs), Costs(graphs.dump)
    found = [for_its_user(row) for kind in KINDS for row in kind(graphs.dump, wanted, costs)]
    if (origin := ORIGINS.get(graphs.dump.run.origin)) is not None:
        found = [row for row in found if row.kind in origin.findings]
    is_answered = tuned.answered(graphs.dump)
    found = [row for row in found if not is_answered(row)]
    if graphs.name is not None:
        about = {"", *(one.fact.compile_id for one in wanted)}
        found = [row for row in found if row.graph in about or f"{row.graph}/".startswith(f"{graphs.name}/")]
    moved = functools.cache(lambda name: CompiledGraph(graphs.dump, name).traffic.moved)
    return [row for row in merged(found, _called(graphs.dump, found)) if _is_noticeable(row, moved)]


def findings_of_account(dump: Dump, account: Account) -> list[Finding]:
    """What the account of a step, made from a profile, shows of this dump's program."""
    graphs = list(Graphs(dump))
    found = [
        *steps.of_account(dump, account),
        *matmul_precision.of_account(dump, graphs, account),
        *half_precision.of_account(dump, graphs, account),
        *double_precision.of_account(dump, graphs, account),
    ]
    return merged(found, _called(dump, found))


def _called(dump: Dump, found: list[Finding]) -> dict[str, Called]:
    """Graph or compile of a finding → how its compile came to run."""
    called = {}
    for name in {row.graph for row in found}:
        graph = dump.graph(outermost(name))
        compile_id = name if graph is None else graph.compile_id
        frame = None if compile_id is None else next(iter(dump.rows_of_compile(Frame, compile_id)), None)
        if frame is not None and frame.caller is not None:
            where = None if resumed(frame.function) is not None else own_line(frame.caller)
            called[name] = Called(frame_id(frame.graph), frame.graph, where)
    return called


def _is_noticeable(row: Finding, moved: Callable[[str], int]) -> bool:
    """False for what is hardly anything of all that the kernels of its outermost graph move, which `moved` tells."""
    if row.kind not in _MOVED or row.bytes is None:
        return True
    return row.bytes >= _LEAST_SHARE * moved(outermost(row.graph))
