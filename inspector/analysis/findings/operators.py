"""Operators that run as library calls although torch.compile might generate code for them."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Cost, Costs
from inspect_compile.analysis.findings.finding import EACH_CALL, Finding
from inspect_compile.analysis.findings.trials import setting_of, trial_of
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Remark
from inspect_compile.graph import CompiledGraph, Id, outermost
from inspect_compile.knowledge.cost.sure import NOT_KNOWN
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.overview.findings import COMPLEX, FALLBACK, FOREACH, WORDS

_FOREACH: Final = "aten._foreach_"
"""torch's operators over lists of tensors."""
_ATEN: Final = "aten."
_TRANSFORMS: Final = "aten._fft_"
"""Fourier transforms: a library's are the right choice."""
_COMPLEX: Final = "complex"
_UNKNOWN: Final = "implicit"
_DTYPE: Final = "dtype"
_MENDABLE: Final = (_UNKNOWN, _DTYPE, "config")
"""Causes of a fallback that a program or a setting can change; the others are choices that torch has made well."""


def _is_torchs(node: Node) -> bool:
    """True for an operator of torch's own, which a program cannot give a lowering."""
    return node.target.startswith(_ATEN) and not node.target.startswith(_FOREACH)


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each such operator; what it costs is at most the time of the call."""
    names = {graph.name: graph.fact for graph in graphs}
    for remark in dump.rows(Remark):
        outer = outermost(remark.graph)
        if remark.code != "fallback" or remark.numbers.get("how") not in _MENDABLE or outer not in names:
            continue
        node = CompiledGraph(dump, outer).node_of.get(Id(remark.graph, remark.ids[0] if remark.ids else ""))
        how = remark.numbers.get("how")
        if node is not None and (node.target.startswith(_TRANSFORMS) or (how == _UNKNOWN and _is_torchs(node))):
            continue
        moved = CompiledGraph(dump, outer).traffic
        calls = [one for one in moved.launches if node is not None and node.name in one.nodes]
        calls = [one for one in calls if one.kernel.kind == "extern" and one.graph == remark.graph]
        if calls and (traffic := moved.of(calls[0])).is_known and not traffic.least:  # a view
            continue
        cost = costs.of_launch(calls[0]) if calls else Cost(None, NOT_KNOWN)
        knob = setting_of(remark)
        yield Finding(
            kind=FALLBACK,
            graph=remark.graph,
            what=WORDS[FALLBACK].what,
            parts=()
            if node is None
            else (
                FindingSite(node.name, operator_name(node.original_aten or node.target), remark.place or node.where),
            ),
            seconds=cost.seconds,
            when=EACH_CALL,
            sure=cost.sure,
            calls=cost.timed,
            bytes=moved.of(calls[0]).least if calls else None,
            is_bound=True,
            why=remark.message.rpartition("nothing fuses with it: ")[2],
            to_do=_to_do(remark, node),
            knob=knob,
            trial=trial_of(CompiledGraph(dump, outer), knob),
            names=remark.ids[:1],
        )


def _to_do(remark: Remark, node: Node | None) -> str:
    if node is not None and node.target.startswith(_FOREACH):
        return WORDS[FOREACH].to_do
    if remark.numbers.get("how") == _DTYPE and _COMPLEX in remark.message:
        return WORDS[COMPLEX].to_do
    return WORDS[FALLBACK].to_do
