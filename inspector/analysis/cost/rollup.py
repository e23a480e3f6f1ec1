"""FLOPs of a graph, summed up by operator, module, source line or kernel. docs/flops.md has the conventions."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from inspect_compile.analysis.cost.flops import COMPUTING, HEAVY, modules_around, operator
from inspect_compile.analysis.cost.kernel_work import MOST, Launched, summed, works
from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, JointNode, Location, Lowering
from inspect_compile.graph import CompiledGraph, Id, gathered


class Cost(msgspec.Struct, frozen=True, tag_field="fact", tag="cost"):
    """FLOPs of one module, operator, line or launch. `show flops --by … --json` prints these."""

    graph: str
    by: str
    """module, op, kernel or line."""
    name: str
    """The module's path, empty at the top; `aten.mm`; `model.py:12`; the kernel's name."""
    flops: int
    """Sum of `heavy` and `scalar`."""
    heavy: int
    """FLOPs of matmuls, convolutions and attention."""
    scalar: int
    """Scalar operations: of FX nodes as if run one by one, of a kernel as its loops do them."""
    transcendental: int
    """The part of `scalar` that is transcendental."""
    recomputed: int
    """The part of `flops` that was computed before: forward nodes in the backward, a loop in a second kernel."""
    share: float
    """Share of the graph's FLOPs, between 0 and 1."""
    nodes: tuple[str, ...] = ()
    """FX nodes that compute; a node of a nested graph is prefixed with the graph's name."""
    expression: str = ""
    """`flops` in terms of the symbolic sizes; empty if no size is symbolic, or one is not known."""
    kind: str = ""
    """The class of a module; the arithmetic type of a kernel, such as `float32`."""
    where: Location | None = None
    """The source line."""
    line: int | None = None
    """Line number of the kernel's launch in output_code.py."""
    uncounted: str = ""
    """Why the launch computes more than is counted here; empty if everything is counted."""


class Item(NamedTuple):
    """One FX node that computes something."""

    row: Lowering
    key: str
    module: str
    module_type: str
    where: Location | None
    is_recomputed: bool


class Costs:
    """The costs of one outermost graph, nested graphs included; computed on demand."""

    def __init__(self, graph: CompiledGraph) -> None:
        self._compiled = graph
        self.graph = graph.name
        self._statements = graph.statements
        rows = {found.graph: found for found in graph.rows(Graph)}
        self._tried = {found.graph for found in rows.values() if found.kind in ("autotune", "constants")}
        own = rows.get(graph.name)
        self._forward = (
            _forward_nodes(graph.dump, own.compile_id) if own is not None and own.kind == "backward" else set()
        )
        self.items = list(self._items())
        self.total = sum(item.row.flops for item in self.items)

    def _items(self) -> Iterator[Item]:
        nodes = self._compiled.node_of
        for row in self._compiled.rows(Lowering):
            if row.op == "call_function" and row.graph not in self._tried and row.flops_kind in COMPUTING:
                node = nodes.get(Id(row.graph, row.node))
                yield Item(
                    row,
                    Id(row.graph, row.node).below(self.graph),
                    "" if node is None else node.module,
                    "" if node is None else node.module_type,
                    self._statements.line_of(row.graph, row.node),
                    row.graph == self.graph and (row.node, row.target) in self._forward,
                )

    def by(self, what: str) -> list[Cost]:
        """Costs by one of BY: modules top down, launches in order, everything else most expensive first."""
        match what:
            case "module":
                return self._modules()
            case "op":
                return self._most(what, lambda item: (operator(item.row.target),))
            case "line":
                return self._lines()
            case "kernel":
                return self._kernels()
        raise ValueError(what)

    def _modules(self) -> list[Cost]:
        types = {item.module: item.module_type for item in reversed(self.items)}
        found = self._grouped(lambda item: ("", *modules_around(item.module)))
        return [self._cost("module", path, items, kind=types.get(path, "")) for path, items in found.items()]

    def _lines(self) -> list[Cost]:
        places = {_place(item.where): item.where for item in self.items}
        costs = self._most("line", lambda item: (_place(item.where),))
        return [msgspec.structs.replace(cost, where=places[cost.name]) for cost in costs]

    def _most(self, by: str, names: Callable[[Item], Iterable[str]]) -> list[Cost]:
        costs = [self._cost(by, name, items) for name, items in self._grouped(names).items()]
        return sorted(costs, key=lambda cost: -cost.flops)

    def _grouped(self, names: Callable[[Item], Iterable[str]]) -> dict[str, list[Item]]:
        return gathered((name, item) for item in self.items for name in names(item))

    def _cost(self, by: str, name: str, items: list[Item], *, kind: str = "") -> Cost:
        heavy = min(sum(item.row.flops for item in items if item.row.flops_kind in HEAVY), MOST)
        scalar = min(sum(item.row.flops for item in items if item.row.flops_kind not in HEAVY), MOST)
        flops = heavy + scalar
        return Cost(
            self.graph,
            by,
            name,
            flops,
            heavy,
            scalar,
            min(sum(item.row.special for item in items), MOST),
            min(sum(item.row.flops for item in items if item.is_recomputed), flops),
            flops / self.total if self.total else 0.0,
            tuple(item.key for item in items),
            _added(item.row for item in items),
            kind,
        )

    def _kernels(self) -> list[Cost]:
        found = [launched for launched in works(self._compiled) if launched.work.graph not in self._tried]
        total = sum(launched.work.heavy + launched.work.scalar for launched in found)
        again = {Id(item.row.graph, item.row.node): item.row.flops for item in self.items if item.is_recomputed}
        before: set[tuple[str, int]] = set()
        return [self._kernel(launched, total, again, before) for launched in found]

    def _kernel(self, launched: Launched, total: int, again: dict[Id, int], before: set[tuple[str, int]]) -> Cost:
        work, graph = launched.work, launched.work.graph
        loops = {} if launched.body is None else dict(zip(launched.body.nodes, launched.body.loops, strict=False))
        nodes = dict.fromkeys([*launched.products, *(name for name, own in loops.items() if own)])
        twice = {name for name, own in loops.items() if own and all((graph, loop) in before for loop in own)}
        before |= {(graph, loop) for own in loops.values() for loop in own}
        flops = work.heavy + work.scalar
        repeated = sum(again.get(Id(graph, name), 0) for name in launched.products)
        repeated += sum(done.scalar for done in launched.done if done.node in twice or Id(graph, done.node) in again)
        return Cost(
            self.graph,
            "kernel",
            Id(graph, work.kernel).below(self.graph),
            flops,
            work.heavy,
            work.scalar,
            work.transcendental,
            min(repeated, flops),
            flops / total if total else 0.0,
            tuple(Id(graph, name).below(self.graph) for name in nodes),
            work.expression,
            work.dtype,
            line=work.line,
            uncounted=work.uncounted,
        )


def _forward_nodes(dump: Dump, compile_id: str | None) -> set[tuple[str, str]]:
    """(name, target) of the forward's nodes in the joint graph: they keep their names in the backward's graph."""
    rows = dump.rows_of_compile(JointNode, compile_id)
    return {(node.name, node.target) for node in rows if not node.is_backward and node.op == "call_function"}


def _place(where: Location | None) -> str:
    return "" if where is None else f"{where.file}:{where.line}"


def _added(rows: Iterable[Lowering]) -> str:
    found = [(row.flops_text, row.flops) for row in rows]
    return summed(found) if any(text for text, _ in found) else ""
