"""Attention that runs as matrix products and a softmax: a call that no fused kernel takes, or what a program wrote by
hand and Inductor's patterns did not recognize.
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.attention.calls import Attention, of_graph
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import LEAST_BYTES, Finding
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import AotMetadata, DynamoNode, Location, Node, Tensor
from inspect_compile.graph import CompiledGraph, Id, Once, grouped, outermost
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.kernels.attention import Refusal, refusals
from inspect_compile.knowledge.overview.findings import ATTENTION, ATTENTION_BY_HAND, WORDS

_FUSED: Final = "_scaled_dot_product_"
_PRODUCTS: Final = ("aten.bmm.", "aten.mm.", "aten.baddbmm.", "aten.matmul.")
_OPERATOR: Final = "scaled_dot_product_attention"
_BACKWARD: Final = 2
"""How often a fused backward moves what the forward does."""


class Composed(NamedTuple):
    """One attention of a graph that no fused kernel computes."""

    attention: Attention
    nodes: frozenset[Id]
    """The FX nodes that compute it."""
    result: Node
    refused: tuple[Refusal, ...]
    """Why no fused kernel can be used for it; of one by hand, what a call would have to mind."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each attention that a change of the program makes one kernel."""
    for graph in graphs:
        for composed in of(graph):
            refused = composed.refused
            if not refused and not composed.attention.is_by_hand:
                continue  # the program has switched fused kernels off
            if composed.attention.is_by_hand and not all(one.is_free for one in refused):
                continue  # as a call it would be no fused kernel, either
            launches = [*_launches(graph, composed), *_launches_back(graph, composed)]
            saved = _saved(graph, composed, launches)
            if saved < LEAST_BYTES:
                continue
            cost = costs.of_bytes(saved, launches)
            own = [one for one in launches if outermost(one.graph) == graph.name]
            largest = max(own, key=lambda one: graph.traffic.of(one).least, default=launches[0])
            words = WORDS[ATTENTION_BY_HAND if composed.attention.is_by_hand else ATTENTION]
            to_do = "; ".join(one.to_do for one in refused)
            yield Finding(
                kind=ATTENTION,
                graph=graph.name,
                what=words.what,
                parts=(FindingSite(composed.result.name, _OPERATOR, composed.attention.nodes[-1].where),),
                seconds=cost.seconds,
                sure=cost.sure,
                calls=cost.timed,
                bytes=saved,
                is_bound=True,
                why=_why(composed),
                to_do=words.to_do + (f"; {to_do}" if words.to_do and to_do else to_do),
                names=(largest.kernel.name,),
            )


@Once
def of(graph: CompiledGraph) -> tuple[Composed, ...]:
    """The attention of a forward or inference graph that no fused kernel computes."""
    compile_id = graph.fact.compile_id
    if graph.fact.kind not in ("forward", "inference") or compile_id is None:
        return ()
    return tuple(_composed(graph, compile_id))


def nodes_of(graph: CompiledGraph) -> frozenset[Id]:
    """The FX nodes of all attention that no fused kernel computes."""
    return frozenset(place for one in of(graph) for place in one.nodes)


def _composed(graph: CompiledGraph, compile_id: str) -> Iterator[Composed]:
    lowered = graph.nodes
    of_origin = grouped(((origin, node) for node in lowered for origin in node.origins), lambda one: one[0])
    fused = {_line(node.where) for node in lowered if _FUSED in node.target}
    for nodes in grouped(graph.dump.rows_of_compile(DynamoNode, compile_id), lambda node: node.graph).values():
        by_name = {node.name: node for node in nodes}
        for attention in of_graph(by_name):
            own = [
                node
                for one in attention.nodes
                for _, node in of_origin.get(one.name, ())
                if _line(node.where) == _line(one.where)
            ]
            products = [node for node in own if node.target.startswith(_PRODUCTS)]
            if not products or any(_line(node.where) in fused for node in own):
                continue
            call = attention.call._replace(
                device="cuda" if graph.fact.device.startswith("cuda") else graph.fact.device or "cpu",
                torch=_torch(graph.dump),
                is_mask_learnt=graph.fact.kind == "forward" and _is_learnt(graph.dump, compile_id, attention, by_name),
            )
            refused = tuple(refusals(call))
            names = frozenset(Id.of(node) for node in own)
            yield Composed(attention._replace(call=call), names, products[-1], refused)


def _is_learnt(dump: Dump, compile_id: str, attention: Attention, nodes: Mapping[str, DynamoNode]) -> bool:
    """True if a mask is computed from something that gets a gradient."""
    given = [node.name for node in nodes.values() if node.op == "placeholder"]
    aot = next((row for row in dump.rows_of_compile(AotMetadata, compile_id) if len(row.inputs) == len(given)), None)
    if aot is None:
        return bool(attention.masks)
    learnt = {name for name, one in zip(given, aot.inputs, strict=True) if one.requires_grad}
    seen: set[str] = set()
    waiting = [node.name for node in attention.masks]
    while waiting:
        name = waiting.pop()
        if name in learnt:
            return True
        if name not in seen and (node := nodes.get(name)) is not None:
            seen.add(name)
            waiting += node.inputs
    return False


def _launches(graph: CompiledGraph, composed: Composed) -> list[Launch]:
    """Those that compute nothing else."""
    launches = graph.traffic.launches
    return [one for one in launches if one.nodes and {Id(one.graph, name) for name in one.nodes} <= composed.nodes]


def _launches_back(graph: CompiledGraph, composed: Composed) -> list[Launch]:
    """Those of the backward graph that compute gradients of its lines alone."""
    lines = {_line_in_module(node) for node in composed.attention.nodes}
    found = []
    for other in graph.dump.graphs_of_compile(graph.fact.compile_id) if graph.fact.compile_id is not None else ():
        if other.kind == "backward":
            moved = CompiledGraph(graph.dump, other.graph).traffic
            for one in moved.launches:
                nodes = [
                    node for name in one.nodes if (node := moved.groups.nodes.get(Id(one.graph, name))) is not None
                ]
                if nodes and all(_line_in_module(node) in lines for node in nodes):
                    found.append(one)
    return found


def _saved(graph: CompiledGraph, composed: Composed, launches: list[Launch]) -> int:
    """What these launches move, less what a fused kernel does, and copies that it needs."""
    moved = sum(CompiledGraph(graph.dump, one.graph).outermost.traffic.of(one).least for one in launches)
    call, result = composed.attention.call, composed.attention.nodes[-1].values[:1]
    fused = sum(tensor.bytes or 0 for tensor in (call.query, call.key, call.value, *result))
    if any(outermost(one.graph) != graph.name for one in launches):
        fused += _BACKWARD * fused
    fused += call.mask.bytes or 0 if call.mask is not None else 0
    copied: list[Tensor] = [tensor for one in composed.refused for tensor in one.copied]
    return moved - fused - 2 * sum(tensor.bytes or 0 for tensor in copied)


def _why(composed: Composed) -> str:
    reasons = "; ".join(one.why for one in composed.refused)
    if not composed.attention.is_by_hand:
        return reasons
    return f"Inductor's patterns of attention do not match it{f'. Of such a call: {reasons}' if reasons else ''}"


def _line(where: Location | None) -> tuple[str, int, int] | None:
    """A line together with the calls that led to it."""
    return None if where is None else (where.file, where.line, where.site)


def _line_in_module(node: Node) -> tuple[object, ...]:
    """The same for one of several modules that run a line."""
    return _line(node.where), node.module


def _torch(dump: Dump) -> tuple[int, int]:
    major, _, rest = dump.run.versions.get("torch", "").partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else (0, 0)
