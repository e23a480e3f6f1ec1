"""Each FX node on its way to IR: how it was lowered, its result, and the buffers and operations it made."""

import functools
from dataclasses import dataclass
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.facts import Graph as GraphFact
from inspect_compile.facts import Lowering
from inspect_compile.facts.nesting import enclosing, nested_path, outermost, own_name
from inspect_compile.lowering.core.fx_nodes import NodeReader, arguments, calling_line, target_name, user_line
from inspect_compile.lowering.core.scopes import SCOPES, Scope, allows_tf32, torch_object
from inspect_compile.lowering.core.values import is_kind, place
from inspect_compile.lowering.ir import flops
from inspect_compile.lowering.ir.fallbacks import fallback_remarks, is_implicit
from inspect_compile.lowering.ir.ir_text import ir_text
from inspect_compile.lowering.passes.inherited import aot_id, origins_in
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.nodes"


def install(probes: Probes) -> None:
    """Hook GraphLowering."""
    sink = probes.sink

    def born(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        scope = SCOPES.born(graph)
        if getattr(graph, "is_backward", False) and scope.kind == "inference":
            scope.kind = "backward"
        if "/" in scope.graph or not scope.announced:
            scope.announced = True
            placeholders = sum(node.op == "placeholder" for node in graph.module.graph.nodes)
            sink.add(
                GraphFact(
                    graph=scope.graph,
                    kind=scope.kind,
                    compile_id=scope.compile_id,
                    parent=enclosing(scope.graph) or None,
                    name=own_name(scope.graph),
                    inputs=placeholders,
                    is_cpp_wrapper=bool(getattr(graph, "cpp_wrapper", False)),
                    tf32=allows_tf32(),
                )
            )
        nested = nested_path(scope.graph)
        inherited = functools.partial(origins_in, aot_id(outermost(scope.graph)))
        reader, nodes = NodeReader(inherited), graph.module.graph.nodes
        sink.add_all(reader.facts(nodes, graph=scope.graph, stage="post_grad", nested=nested))
        scope.where.update((name, origin.where) for name, origin in inherited(nested).items() if name in scope.order)
        scope.where.update((node.name, where) for node in nodes if (where := user_line(node)) is not None)
        for node in nodes:
            if node.name not in scope.where and (where := calling_line(node)) is not None:
                scope.where[node.name] = where
        known: dict[str, _Known] = scope.stash.setdefault(PROBE, {})
        constraints: dict[int, str | None] = {}
        known.update((node.name, _Known.of(node, reader, constraints)) for node in nodes)
        for name, found in known.items():
            if found.constraint is not None:
                scope.constraints.setdefault(found.constraint, []).append(name)

    def before(graph: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[int, int, float]:
        return len(graph.buffers), len(graph.operations), AtStart.perf_counter()

    def after(state: tuple[int, int, float], graph: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        seconds = AtStart.perf_counter() - state[2]
        scope = SCOPES.at(graph)
        node = argument(args, kwargs, 0, "n")
        fact = _fact(scope, graph, node, result, state, seconds)
        _made(scope, node, fact, result)
        sink.add(fact)
        if fact.way == "fallback":
            sink.add_all(fallback_remarks(scope, fact, node))
        scope.lowered += 1

    def failed(
        state: tuple[int, int, float], graph: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException
    ) -> None:
        scope = SCOPES.at(graph)
        node = argument(args, kwargs, 0, "n")
        sink.add(
            Lowering(
                graph=scope.graph,
                index=scope.lowered,
                node=node.name,
                op=node.op,
                target=target_name(node.target),
                way="failed",
                arguments=arguments(node),
                error=f"{type(error).__name__}: {str(error)[:2000]}",
            )
        )
        scope.lowered += 1
        sink.flush()

    def ran(state: Any, graph: Any, args: Any, kwargs: Any, result: Any) -> None:
        sink.flush()

    probes.wrap(PROBE, names.GRAPH_INIT, after=born, fresh_stack=True)
    probes.wrap(PROBE, names.RUN_NODE, before=before, after=after, failed=failed)
    probes.wrap(PROBE, names.GRAPH_RUN, after=ran, fresh_stack=True)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of a node before it is lowered, read for all nodes of a graph at once because that is faster."""

    target: str
    arguments: tuple[str, ...]
    constraint: str | None
    count: flops.Count

    @classmethod
    def of(cls, node: Any, reader: NodeReader, constraints: dict[int, str | None]) -> "_Known":
        """`constraints`: those of the functions that nodes of the graph called so far, by identity."""
        target: Any = node.target
        if id(target) not in constraints:
            is_implicit(node)
            constraints[id(target)] = _constraint(node)
        constraint = constraints[id(target)] if node.op == "call_function" else None
        return cls(reader.target(target), arguments(node), constraint, flops.count(node))


def _fact(scope: Scope, graph: Any, node: Any, result: Any, state: tuple[int, int, float], seconds: float) -> Lowering:
    buffers, operations = graph.buffers[state[0] :], graph.operations[state[1] :]
    environment = graph.env
    sources = [(source.name, environment.get(source)) for source in node.all_input_nodes] if result is not None else []
    same_as = next((name for name, value in sources if value is result), None)
    known: _Known = scope.stash.get(PROBE, {}).get(node.name) or _Known.of(node, NodeReader(), {})
    way, via = _way(node, known.target, result, operations, same_as, sources)
    made = _names(buffers, "name")
    if node.op == "output":
        result = getattr(graph, "graph_outputs", result)
    return Lowering(
        graph=scope.graph,
        index=scope.lowered,
        node=node.name,
        op=node.op,
        target=known.target,
        way=way,
        via=via,
        constraint=known.constraint,
        arguments=known.arguments,
        result="" if same_as is not None else ir_text(scope, result, made),
        same_as=same_as,
        buffers=made,
        operations=_names(operations, "operation_name"),
        flops=known.count.flops,
        flops_kind=known.count.kind,
        special=known.count.special,
        flops_text=known.count.text,
        seconds=round(seconds, 6),
    )


def _made(scope: Scope, node: Any, fact: Lowering, result: Any) -> None:
    """Record which node made which operation; what a nested lowering made stays with the inner node."""
    for operation in fact.operations:
        scope.makers.setdefault(operation, fact.node)
    part: Any = getattr(_storage(result), "data", None) if fact.way == "getitem" else None
    if type(part).__name__ == "MultiOutput":
        operation = part.get_operation_name()
        if scope.makers.get(operation) == node.args[0].name:
            scope.makers[operation] = fact.node


def _names(things: Any, attribute: str) -> tuple[str, ...]:
    """Names of buffers or operations; those inside a template's subgraph have none."""
    return tuple(name for thing in things if (name := getattr(thing, attribute, None)) is not None)


def _way(
    node: Any, target: str, result: Any, operations: Any, same_as: str | None, sources: list[tuple[str, Any]]
) -> tuple[str, str]:
    """How a node was lowered, and by which function; `sources` are the values that it reads."""
    if node.op != "call_function":
        return {"get_attr": "constant"}.get(node.op, node.op), ""
    if target == "operator.getitem":
        return "getitem", ""
    function = node.target
    if not hasattr(function, "overloadpacket") and hasattr(function, "_inductor_lowering_function"):
        return "pattern", place(function)
    via = place((torch_object(names.LOWERINGS) or {}).get(function))
    if any(type(operation).__name__ == "FallbackKernel" for operation in operations) or "fallback_handler" in via:
        return "fallback", via
    kind: Any = type(function)
    if is_kind(kind, "HigherOrderOperator"):
        return "subgraph", via
    if not operations and (same_as is not None or _shares_storage(result, sources)):
        return "view", via
    return "lowering", via


def _storage(value: Any) -> Any:
    """The StorageBox below views, or None."""
    for _ in range(100):
        if value is None or type(value).__name__ == "StorageBox":
            return value
        value = getattr(value, "data", None)
    return None


def _shares_storage(result: Any, sources: list[tuple[str, Any]]) -> bool:
    """Whether the result, or each of several such as those of a split, is a view of something that the node reads."""
    own = [_storage(part) for part in (result if isinstance(result, list | tuple) else (result,))]
    read = {id(storage) for _, value in sources if (storage := _storage(value)) is not None}
    return bool(own) and all(id(storage) in read for storage in own)


def _constraint(node: Any) -> str | None:
    ask = torch_object(names.LAYOUT_CONSTRAINTS)
    if ask is None or node.op != "call_function":
        return None
    found = ask(node.target)
    return None if found is None else getattr(found, "__name__", str(found))
