"""What torch's texts of one graph tell together: its FX nodes, its schedule, its code, each joined with the others."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from inspect_compile.dump import paths
from inspect_compile.facts import (
    Fact,
    Graph,
    GraphEnd,
    Kernel,
    Location,
    MemoryPlan,
    Node,
    Operation,
    Symbol,
    WrapperLine,
)
from inspect_compile.facts.nesting import enclosing, own_name
from inspect_compile.origins.cpp_wrapper import CppCode, read_cpp_code
from inspect_compile.origins.fusion_log import fusion_rows
from inspect_compile.origins.fx_text import nodes_of
from inspect_compile.origins.ir_text import buffer_bytes, operations_of
from inspect_compile.origins.launched_groups import joined
from inspect_compile.origins.output_code import OutputCode, read_code
from inspect_compile.origins.provenance import kernel_nodes, with_nodes

CODE: Final = f"{paths.OUTPUT_CODE}.py"
CPP_CODE: Final = f"{paths.OUTPUT_CODE}.cpp"
LOG: Final = "debug.log"
"""Of a graph, where `torch._inductor.config.trace.debug_log` is set: why the scheduler fused or did not."""
FILES: Final = (
    paths.FX_RUNNABLE, paths.FX_READABLE, paths.FX_TRANSFORMED, paths.IR_PRE_FUSION, paths.IR_POST_FUSION, CODE,
    CPP_CODE, paths.PROVENANCE, LOG,
)  # fmt: skip
"""torch's files of a graph, which a dump has under the same names."""
_SYMBOL: Final = re.compile(r"\b[su]\d+\b")


class OfCompile(NamedTuple):
    """What is known of the compile that a graph is of."""

    symbols: Mapping[str, Symbol] = MappingProxyType({})
    """By name."""
    lines: Mapping[str, Location] = MappingProxyType({})
    """Node of Dynamo's graph → the line that it is from."""


_NOTHING: Final = OfCompile()


class ReadGraph(NamedTuple):
    """What became of the texts of a graph."""

    facts: list[Fact]
    files: dict[str, str]
    """Path in the graph's folder → text: those that were given, and the kernels' sources."""
    devices: list[str]
    """Where its tensors are."""
    note: str
    """What could not be read, in a sentence; else empty."""


def read_graph(
    name: str,
    kind: str,
    texts: Mapping[str, str],
    compile_id: str | None = None,
    compiled: OfCompile = _NOTHING,
) -> ReadGraph:
    """Read the texts of a graph, by their names in `FILES`; any of them can be missing."""
    nodes = nodes_of(name, "aot", texts.get(paths.FX_READABLE, ""))
    final = nodes_of(name, "post_grad", texts.get(paths.FX_TRANSFORMED, ""))
    after = texts.get(paths.IR_POST_FUSION, "")
    code = OutputCode()
    if CODE in texts:
        code = read_code(name, texts[CODE])
        code = read_code(name, texts[CODE], buffer_bytes(after, code.symbols)) if after else code
    if code.cpp or CPP_CODE in texts:
        code = read_cpp_code(name, code.cpp or texts[CPP_CODE], given=code.given, symbols=code.symbols)
    known = final or nodes
    inputs = {node.target: node.values[0] for node in known if node.op == "placeholder" and node.values}
    graphs = [name, *dict.fromkeys(fact.graph for fact in code.facts if fact.graph != name)]
    operations = [
        operation
        for phase, text in (("pre_fusion", texts.get(paths.IR_PRE_FUSION, "")), ("post_fusion", after))
        for operation in _of_their_graph(operations_of(name, phase, text, inputs, code.symbols), graphs)
    ]
    of_nodes = (value.device for node in known for value in node.values)
    of_kernels = (fact.device for fact in code.facts if isinstance(fact, Kernel) and not (known or operations))
    named = (*(operation.device for operation in operations), *of_nodes, *of_kernels)
    devices = list(dict.fromkeys(filter(None, named)))
    of_kernel = kernel_nodes(texts.get(paths.PROVENANCE, "{}"))
    facts = [
        *fusion_rows(name, texts.get(LOG, ""), operations),
        *_graphs(name, kind, compile_id, code, texts, nodes or final, ", ".join(sorted(devices))),
        *_symbols(name, code.symbols, compiled.symbols, final or nodes),
        *nodes,
        *final,
        *_joined(code, texts.get(CODE, ""), of_kernel, final, operations, compiled.lines),
    ]
    return ReadGraph(facts, {**texts, **dict(code.sources)}, devices, code.note)


def _of_their_graph(operations: list[Operation], graphs: list[str]) -> list[Operation]:
    """The operations with the graph that they are of: torch writes the schedules of all nested graphs to one file, and
    the last one remains. What is in a nested graph has its name in front.
    """
    for graph in graphs[1:]:
        if all(operation.name.startswith(f"{own_name(graph)}_") for operation in operations):
            return [replace(operation, graph=graph) for operation in operations]
    return operations


def _joined(
    code: OutputCode,
    text: str,
    of_kernel: Mapping[str, tuple[str, ...]],
    nodes: list[Node],
    operations: list[Operation],
    lines_of: Mapping[str, Location],
) -> Iterator[Fact]:
    """The facts of the code and of the schedule, each with what the other one says of it."""
    for graph in dict.fromkeys(fact.graph for fact in (*code.facts, *operations)):
        own = [fact for fact in code.facts if fact.graph == graph]
        kernels = with_nodes(
            [fact for fact in own if isinstance(fact, Kernel)],
            text,
            of_kernel,
            [node for node in nodes if node.graph == graph],
            lines_of,
        )
        lines = [fact for fact in own if isinstance(fact, WrapperLine)]
        found = joined(kernels, lines, [operation for operation in operations if operation.graph == graph])
        yield from found.operations
        yield from found.lines
        yield from (fact for fact in own if not isinstance(fact, (Kernel, WrapperLine)))
        yield from found.kernels


def _symbols(
    graph: str, hints: Mapping[str, object], known: Mapping[str, Symbol], nodes: list[Node]
) -> Iterator[Symbol]:
    """The symbols in the sizes of a graph, each with the first line whose value or inputs hold it."""
    of_node = {node.name: _in_sizes(node) for node in nodes if node.graph == graph}
    lines: dict[str, Location] = {}
    for node in nodes:
        if node.graph == graph and node.where is not None:
            for symbol in (*of_node[node.name], *(one for other in node.inputs for one in of_node.get(other, ()))):
                lines.setdefault(symbol, node.where)
    there = dict.fromkeys(symbol for found in of_node.values() for symbol in found)
    there |= dict.fromkeys(filter(_SYMBOL.fullmatch, hints))
    for symbol in there:
        found = known.get(symbol, Symbol(graph=graph, name=symbol))
        hint = found.hint or str(hints.get(symbol, ""))
        yield replace(found, graph=graph, hint=hint, where=lines.get(symbol))


def _in_sizes(node: Node) -> tuple[str, ...]:
    sizes = (length for value in node.values for length in value.size if isinstance(length, str))
    return tuple(dict.fromkeys(symbol for length in sizes for symbol in _SYMBOL.findall(length)))


def _graphs(
    name: str,
    kind: str,
    compile_id: str | None,
    code: OutputCode,
    texts: Mapping[str, str],
    nodes: list[Node],
    device: str,
) -> Iterator[Fact]:
    plan = next((fact for fact in code.facts if isinstance(fact, MemoryPlan) and fact.graph == name), None)
    given = 0 if nodes else len(plan.inputs) if plan is not None else code.inputs if isinstance(code, CppCode) else 0
    yield Graph(
        graph=name,
        kind=kind,
        compile_id=compile_id,
        name=name.rpartition(".")[0],
        inputs=given or sum(node.op == "placeholder" and node.graph == name for node in nodes),
        is_cpp_wrapper=isinstance(code, CppCode),
        device=device,
    )
    for nested in dict.fromkeys(fact.graph for fact in code.facts if fact.graph != name):
        count = sum(node.op == "placeholder" and node.graph == nested for node in nodes)
        yield Graph(
            graph=nested,
            kind="subgraph",
            compile_id=compile_id,
            parent=enclosing(nested),
            name=own_name(nested),
            inputs=count,
        )
    if CODE in texts or CPP_CODE in texts:
        yield GraphEnd(graph=name, status="compiled", seconds=0.0)
