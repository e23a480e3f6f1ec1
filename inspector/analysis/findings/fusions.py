"""Missed fusions: two steps that go over the same values and were not put into one kernel."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.kernel_traffic import launch_traffic
from inspect_compile.analysis.findings.costs import Cost, Costs
from inspect_compile.analysis.findings.finding import NOT_KNOWN, Finding
from inspect_compile.analysis.findings.trials import trial_of
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph
from inspect_compile.knowledge.fusion.reasons import by_code
from inspect_compile.knowledge.overview.findings import APART_HANDED, APART_READ, LOOPS, WORDS

KIND: Final = "missed-fusion"
_LEAST: Final = 1024
"""Fewer bytes than this are no finding."""


def found(dump: Dump, graphs: list[Graph], costs: Costs) -> Iterator[Finding]:
    """One for each pair that a change of the program or a setting could join."""
    for graph in graphs:
        known = fusion(dump, graph.graph)
        launches = {(one.graph, name): one for one in launch_traffic(dump, graph.graph).launches for name in one.groups}
        for miss in (*known.apart, *known.beside):
            if miss.saved_bytes < _LEAST or not can_act(miss):
                continue
            both = [launches[miss.graph, name] for name in (miss.a, miss.b) if (miss.graph, name) in launches]
            cost = Cost(None, NOT_KNOWN) if miss.one_kernel else costs.of_bytes(miss.saved_bytes, both)
            reason = by_code(miss.code)
            variety = LOOPS if miss.one_kernel else APART_HANDED if miss.handed else APART_READ
            knob = reason.knob if reason is not None else ""
            yield Finding(
                kind=KIND,
                graph=miss.graph,
                what=WORDS[variety].what,
                parts=miss.parts,
                seconds=cost.seconds,
                sure=cost.sure,
                bytes=miss.saved_bytes,
                is_bound=miss.is_unsure,
                saves_bytes=not miss.one_kernel,
                why=reason.meaning if reason is not None else miss.reason,
                to_do=reason.advice if reason is not None else "",
                knob=knob,
                trial=trial_of(dump, graph.graph, knob),
                names=(miss.a, miss.b),
                buffers=miss.buffers,
            )


def can_act(miss: Miss) -> bool:
    """False if a library call stands between the two, or if nothing can be done about the reason."""
    if any(one.kind == "extern" for one in miss.between):
        return False
    reason = by_code(miss.code)
    return reason is None or bool(reason.advice or reason.knob)
