"""Subgraphs that become a part of one kernel: flex_attention's score_mod and mask_mod, a scan's combine function.

They have nodes, but no buffers and no schedule.
"""

import weakref
from dataclasses import dataclass, field
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.facts import Graph, Lowering
from inspect_compile.facts.nesting import enclosing, own_name
from inspect_compile.lowering.core.fx_nodes import NodeReader, argument, target_name
from inspect_compile.lowering.core.scopes import SCOPES, Scope, torch_object
from inspect_compile.lowering.core.values import place
from inspect_compile.lowering.ir.ir_text import ir_text
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.pointwise_subgraphs"


@dataclass
class _Calls:
    """What the calls of one subgraph were lowered to, in order."""

    scope: Scope
    results: list[tuple[str, str, float]] = field(default_factory=list)
    """(IR text, lowering function, seconds)."""


def install(probes: Probes) -> None:
    """Hook PointwiseSubgraphLowering."""
    sink = probes.sink
    subgraphs: weakref.WeakKeyDictionary[Any, _Calls] = weakref.WeakKeyDictionary()

    def born(state: Any, subgraph: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        module, root = subgraph.module, subgraph.root_graph
        scope = SCOPES.inner(subgraph, root, _name(module, root.module))
        if scope is not None:
            subgraphs[subgraph] = _Calls(scope)

    def before(subgraph: Any, args: Any, kwargs: Any) -> float:
        return AtStart.perf_counter()

    def called(started: float, subgraph: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        calls = subgraphs.get(subgraph)
        if calls is not None:
            lowering = (torch_object(names.LOWERINGS) or {}).get(args[0])
            calls.results.append((ir_text(calls.scope, result), place(lowering), AtStart.perf_counter() - started))

    def finished(state: Any, subgraph: Any, args: Any, kwargs: Any, result: Any) -> None:
        calls = subgraphs.pop(subgraph, None)
        root = SCOPES.of(subgraph.root_graph)
        if calls is None or root is None:
            return
        # The same subgraph is lowered once for each template that is tried: it is recorded once.
        recorded: set[str] = root.stash.setdefault(PROBE, set())
        if calls.scope.graph in recorded:
            return
        recorded.add(calls.scope.graph)
        _tell(probes, calls, subgraph.module)
        sink.flush()

    probes.wrap(PROBE, names.SUBGRAPH_INIT, after=born)
    probes.wrap(PROBE, names.SUBGRAPH_CALL, before=before, after=called)
    probes.wrap(PROBE, names.SUBGRAPH_OUTPUT, after=finished)


def _name(module: Any, root: Any) -> str:
    """The subgraph's name in the enclosing graph.

    A backend may lower a modified copy (flex_attention's mask on the CPU), which still contains the same calls.
    """
    children = [(name, child) for name, child in root.named_children() if hasattr(child, "graph")]
    own = _calls(module)
    same = [str(name) for name, child in children if child is module]
    changed = [str(name) for name, child in children if (calls := _calls(child)) and calls <= own]
    return next(iter(same + changed), "pointwise_subgraph")


def _calls(module: Any) -> set[tuple[str, str]]:
    return {(node.name, str(node.target)) for node in module.graph.nodes if node.op == "call_function"}


def _tell(probes: Probes, calls: _Calls, module: Any) -> None:
    scope, sink = calls.scope, probes.sink
    parent, name = enclosing(scope.graph), own_name(scope.graph)
    inputs = sum(node.op == "placeholder" for node in module.graph.nodes)
    sink.add(
        Graph(graph=scope.graph, kind="subgraph", compile_id=scope.compile_id, parent=parent, name=name, inputs=inputs)
    )
    sink.add_all(NodeReader().facts(module.graph.nodes, graph=scope.graph, stage="post_grad"))
    results = iter(calls.results)
    for index, node in enumerate(module.graph.nodes):
        text, via, seconds = next(results, ("", "", 0.0)) if node.op == "call_function" else ("", "", 0.0)
        sink.add(
            Lowering(
                graph=scope.graph,
                index=index,
                node=node.name,
                op=node.op,
                target=target_name(node.target),
                way={"call_function": "lowering", "get_attr": "constant"}.get(node.op, node.op),
                via=via,
                arguments=tuple(argument(value) for value in node.args),
                result=text,
                seconds=round(seconds, 6),
            )
        )
