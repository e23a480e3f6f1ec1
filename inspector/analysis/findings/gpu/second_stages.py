"""Reductions in two stages, each second stage of which is a small kernel of its own."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs, together
from inspect_compile.analysis.findings.finding import Finding, parts_at
from inspect_compile.analysis.findings.trials import trial_of
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.knowledge.overview.findings import SECOND_STAGES, WORDS

_KNOB: Final = "triton.cooperative_reductions"
_REDUCTION: Final = "reduction"
_LEAST: Final = 0.05
"""Share of the graph's time, measured or at the roofline."""
_FEWEST: Final = 2
"""Second stages behind one kernel: for a single one torch's choice of two stages is the usual one."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each graph on a GPU that has kernels with several second stages behind them, if these are a noticeable
    part of its time.
    """
    for graph in graphs:
        followed = {first: names for first, names in _followed(graph).items() if len(names) >= _FEWEST}
        if not followed:
            continue
        launches = graph.traffic.launches
        every = together(costs.of_launch(launch) for launch in launches)
        many = sum(map(len, followed.values()))
        cost = costs.of_launching(many)
        if every.seconds and cost.seconds is not None and cost.seconds < _LEAST * every.seconds:
            continue
        lines = next((one.lines for one in launches if next(iter(followed)) in one.groups), ())
        yield Finding(
            kind=SECOND_STAGES,
            graph=graph.name,
            what=WORDS[SECOND_STAGES].what,
            parts=parts_at(next(iter(lines), None)),
            count=len(followed),
            seconds=cost.seconds,
            sure=cost.sure,
            is_bound=True,
            why=f"{many} kernels that are only second stages, each with the time of a launch",
            knob=_KNOB,
            trial=trial_of(graph, _KNOB),
            names=tuple(name for first, own in followed.items() for name in (first, *own)),
        )


def _followed(graph: CompiledGraph) -> dict[str, list[str]]:
    """Scheduler node after fusion with first stages → those that begin with the second stages of these."""
    after = graph.own(graph.groups)
    within = {member: group.name for group in after for member in group.members}
    stages = _second_stages(graph.own(graph.operations))
    behind = [(stages[group.members[0]], group.name) for group in after if group.members and group.members[0] in stages]
    pairs = [(within[first], name) for first, name in behind if within.get(first, name) != name]
    return {first: [name for _, name in own] for first, own in grouped(pairs, lambda pair: pair[0]).items()}


def _second_stages(before: list[Operation]) -> dict[str, str]:
    """Second stage → first stage: two reductions of one FX node on a GPU, the one over what the other has written."""
    reductions = [row for row in before if row.kind == _REDUCTION and row.nodes and not row.device.startswith("cpu")]
    made = {buffer: row for row in reductions for buffer in row.buffers}
    found = {}
    for row in reductions:
        read = [made.get(access.buffer) for access in row.reads]
        if len(read) == 1 and read[0] is not None and read[0].nodes[-1] == row.nodes[-1]:
            found[row.name] = read[0].name
    return found
