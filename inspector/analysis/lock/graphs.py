"""The part of a contract that is about Inductor: of each graph its figures, kernels, loops and what they cost."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.content import kernel_source
from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.lock.evidence import Apart, Evidence, Key, Loop, digest, own
from inspect_compile.analysis.lock.records import GraphLock, MachineGraph
from inspect_compile.analysis.memory.holders import holders, moment
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, Kernel, Location, Lowering, Node, Remark
from inspect_compile.graph import CompiledGraph, Graphs, Id, outermost, short
from inspect_compile.graph.kernels.binaries import configurations, of_kernels
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.fusion.reasons import by_code

_NO_LOOP: Final = ("extern", "nop")
_LEAST_HELD: Final = 0.01
"""Share of the peak below which a result is not listed."""


class GraphContract(NamedTuple):
    """One graph."""

    graph: str
    """Its name in the dump."""
    lock: GraphLock
    machine: MachineGraph
    evidence: dict[Key, Evidence]
    loops: list[Loop]
    apart: list[Apart]
    lines: tuple[Location, ...]


class _Labels:
    """Labels with their numbers, and where the first of each comes from."""

    def __init__(self, graph: str, evidence: dict[Key, Evidence]) -> None:
        self._graph = graph
        self._evidence = evidence
        self.found: dict[str, Counter[str]] = {}

    def add(self, metric: str, label: str, where: Location | None = None, why: str = "", number: int = 1) -> None:
        self.found.setdefault(metric, Counter())[label] += number
        self._evidence.setdefault((self._graph, metric, label), Evidence(own(where), why))

    def of(self, metric: str) -> dict[str, int]:
        return dict(sorted(self.found.get(metric, {}).items()))


def operator_of(node: Node) -> str:
    """The operator that a node comes from, in the program's words."""
    return operator_name(node.original_aten or node.target) or node.target


def graph_contract(dump: Dump, graph: Graph, frame: str, missed_over: int) -> GraphContract:
    """What is kept of one outermost graph."""
    name, evidence = graph.graph, dict[Key, Evidence]()
    labels = _Labels(name, evidence)
    flops, moved, held = (
        graph_flops(CompiledGraph(dump, name)),
        CompiledGraph(dump, name).traffic,
        CompiledGraph(dump, name).memories[name],
    )
    nodes = CompiledGraph(dump, name).node_of
    fused = fusion(CompiledGraph(dump, name))
    apart = [Apart(miss.graph, miss.a, miss.b, _why_apart(miss)) for miss in (*fused.apart, *fused.beside)]
    loops = _loops(dump, name, nodes, apart, labels)
    seen = set()
    for kernel in dump.rows(Kernel, name):
        if kernel.kind != "extern" and (kernel.graph, kernel.name) not in seen:
            seen.add((kernel.graph, kernel.name))
            labels.add("kernels", kernel.form or kernel.kind, next(iter(kernel.lines), None))
    for launch in moved.launches:
        if launch.kernel.kind == "extern":
            labels.add("extern", launch.kernel.name, next(iter(launch.lines), None))
    for remark in dump.rows(Remark):
        if remark.code == "fallback" and outermost(remark.graph) == name:
            target = remark.message.partition(" runs as ")[0].removesuffix(".default")
            why = remark.message.rpartition("nothing fuses with it: ")[2]
            labels.add("fallback", target, remark.place, why)
    for miss in fused.apart:
        if miss.saved_bytes >= missed_over:
            two = [part.operator or part.node for part in miss.parts]
            second = next((part.where for part in reversed(miss.parts) if part.where is not None), miss.where)
            labels.add("missed", " and ".join(two), second, _why_apart(miss))
    for node in CompiledGraph(dump, name).nodes:
        if node.op == "call_function" and node.values:
            labels.add("dtypes", node.values[0].dtype.removeprefix("torch."), node.where)
    where = {operator_name(node.target): node.where for node in reversed(CompiledGraph(dump, name).nodes) if node.where}
    for row in flops.operators:
        labels.add("operators", operator_name(row.operator), where.get(operator_name(row.operator)), number=row.flops)
    largest = max(moved.launches, key=lambda launch: moved.of(launch).least, default=None)
    if largest is not None and largest.lines:
        evidence[name, "bytes", ""] = Evidence(own(largest.lines[-1]))
    if held.peak_index is not None:
        for holder in moment(held, holders(CompiledGraph(dump, name), held), held.peak_index).holders:
            if holder.bytes >= _LEAST_HELD * held.peak:
                maker = nodes.get(Id(holder.graph, holder.node))
                label = operator_of(maker) if maker is not None and maker.op == "call_function" else holder.origin
                labels.add("held", label, holder.where, number=holder.bytes)
    return GraphContract(
        name,
        GraphLock(
            frame=frame,
            kind=graph.kind,
            launches=sum(launch.line is not None for launch in moved.launches),
            flops=flops.total,
            bytes=moved.moved,
            peak=held.peak,
            cudagraphs=_cudagraphs(dump, name),
            kernels=labels.of("kernels"),
            extern=labels.of("extern"),
            fallbacks=labels.of("fallback"),
            fused=labels.of("fused"),
            missed=labels.of("missed"),
            dtypes=labels.of("dtypes"),
            operators={label: number for label, number in labels.of("operators").items() if number},
            held=labels.of("held"),
        ),
        _machine(dump, graph, frame, evidence),
        evidence,
        loops,
        apart,
        tuple(dict.fromkeys(line for launch in moved.launches for line in launch.lines)),
    )


def _loops(dump: Dump, graph: str, nodes: dict[Id, Node], apart: Iterable[Apart], labels: _Labels) -> list[Loop]:
    found = []
    views = {(row.graph, row.node) for row in dump.rows(Lowering, graph) if row.way == "view"}
    reasons: dict[tuple[str, str], str] = {}
    for pair in apart:
        for side in (pair.a, pair.b):
            reasons.setdefault((pair.graph, side), pair.why)
    for row in CompiledGraph(dump, graph).groups:
        if row.kind in _NO_LOOP:
            continue
        own_nodes = [node for name in row.nodes if (node := nodes.get(Id(row.graph, name))) is not None]
        computing = [node for node in own_nodes if node.op == "call_function" and (node.graph, node.name) not in views]
        operators = tuple(dict.fromkeys(map(operator_of, computing)))
        lines = tuple(dict.fromkeys(at for node in own_nodes if (at := own(node.where)) is not None))
        found.append(Loop(row.graph, row.name, operators, lines))
        last = next(reversed(lines), None)
        labels.add("fused", " + ".join(operators) or row.kind, last, reasons.get((row.graph, row.name), ""))
    return found


def _why_apart(miss: Miss) -> str:
    reason = by_code(miss.code)
    meaning = reason.meaning if reason is not None else miss.reason
    places = " and ".join(
        f"{part.operator or part.node} ({short(where)})" if (where := own(part.where)) is not None else part.operator
        for part in miss.parts
    )
    knob = f" (setting: {reason.knob})" if reason is not None and reason.knob else ""
    return f"{places or f'{miss.a} and {miss.b}'} are apart: {meaning}{knob}" if meaning else ""


def _cudagraphs(dump: Dump, graph: str) -> str:
    rows = [row for row in cudagraph_rows(Graphs(dump, graph)) if row.graph == graph]
    skipped = next((row.skipped for row in rows if row.skipped), "")
    return f"off: {skipped}" if skipped else "on" if rows else ""


def _machine(dump: Dump, graph: Graph, frame: str, evidence: dict[Key, Evidence]) -> MachineGraph:
    labels = _Labels(graph.graph, evidence)
    seen = set()
    for kernel in dump.rows(Kernel, graph.graph):
        if kernel.source and (kernel.graph, kernel.name) not in seen:
            seen.add((kernel.graph, kernel.name))
            label = f"{digest(kernel_source(dump, kernel), 4)} {_unnumbered(kernel.name)}"
            labels.add("sources", label, next(reversed(kernel.lines), None))
    running = [rows[0] for rows in of_kernels(configurations(CompiledGraph(dump, graph.graph))).values()]
    for row in running:
        labels.add("choices", f"{_unnumbered(row.kernel)} {row.label}")
    registers = [row.registers for row in running if row.registers is not None]
    spills = [row.spills for row in running if row.spills is not None]
    lines = {one.name: one.lines[-1] for one in dump.rows(Kernel, graph.graph) if one.lines}
    most = max(running, key=lambda row: row.registers or 0, default=None)
    if most is not None and most.registers:
        text = f"{most.kernel} has {most.registers} registers a thread"
        evidence[graph.graph, "registers", ""] = Evidence(own(lines.get(most.kernel)), text)
    spilled = max(running, key=lambda row: row.spills or 0, default=None)
    if spilled is not None and spilled.spills:
        text = f"{spilled.kernel} spills {spilled.spills} bytes a thread"
        evidence[graph.graph, "spills", ""] = Evidence(own(lines.get(spilled.kernel)), text)
    return MachineGraph(
        frame=frame,
        kind=graph.kind,
        registers=max(registers, default=None),
        spills=sum(spills) if spills else None,
        sources=labels.of("sources"),
        choices=labels.of("choices"),
    )


def _unnumbered(kernel: str) -> str:
    """The name of a kernel without its number in the graph."""
    head, _, last = kernel.rpartition("_")
    return head if last.isdecimal() else kernel
