"""One compiled graph with all that was recorded of it, each join made on first use and kept until the dump has more."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Fact, Graph, JointNode, Kernel, Location, Node, Operation, Symbol
from inspect_compile.facts.nesting import outermost
from inspect_compile.graph.ids import Id
from inspect_compile.graph.once import Once

if TYPE_CHECKING:
    from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
    from inspect_compile.graph.fusion.ledger import Ledger
    from inspect_compile.graph.kernels.launches import Launch
    from inspect_compile.graph.kernels.statements import Statements
    from inspect_compile.graph.memory.plan import Memory
    from inspect_compile.graph.provenance.chain import Provenance
    from inspect_compile.graph.provenance.lineage import Lineage

F = TypeVar("F", bound=Fact)
R = TypeVar("R", Operation, Node)


class Graphs:
    """The graphs of a dump, or one of them: what a view is asked for."""

    def __init__(self, dump: Dump, name: str | None = None) -> None:
        """All for None."""
        self.dump = dump
        self.name = name

    def __iter__(self) -> Iterator["CompiledGraph"]:
        """The outermost graphs in order; of one that was asked for, which may be nested, itself if the dump has it."""
        if self.name is None:
            yield from (CompiledGraph(self.dump, found.graph) for found in self.dump.outermost())
        elif self.dump.graph(self.name) is not None:
            yield CompiledGraph(self.dump, self.name)

    @property
    def facts(self) -> list[Graph]:
        """What was recorded of the compile of each."""
        return [graph.fact for graph in self]

    @property
    def compiles(self) -> set[str] | None:
        """The compile ids of those that were asked for, empty for one without a frame; None for all."""
        return None if self.name is None else {graph.fact.compile_id or "" for graph in self}

    def rows(self, kind: type[F]) -> list[F]:
        """The facts of one kind, those of nested graphs included."""
        return self.dump.rows(kind, self.name)

    def alone(self, kind: type[F]) -> list[F]:
        """The same without those of graphs nested in the one that was asked for."""
        return [row for row in self.rows(kind) if self.name in (None, row.graph)]

    def of_compiles(self, kind: type[F]) -> list[F]:
        """The facts of a kind that belong to compiles: those of the compiles of these graphs."""
        wanted = self.compiles
        return [row for row in self.dump.rows(kind) if wanted is None or row.graph in wanted]

    @Once
    def nodes(self) -> list[Node]:
        """The FX nodes after all passes, in order; those of nested graphs follow."""
        return [node for node in self.rows(Node) if node.stage == "post_grad"]

    @Once
    def node_of(self) -> dict[Id, Node]:
        """Each of `nodes` by its identity."""
        return {Id.of(node): node for node in self.nodes}

    @Once
    def line_of(self) -> dict[Id, Location]:
        """The source line of each of `nodes` that has one."""
        return {Id.of(node): node.where for node in self.nodes if node.where is not None}

    @Once
    def operations(self) -> list[Operation]:
        """The scheduler nodes before fusion, in order; those of nested graphs follow."""
        return [row for row in self.rows(Operation) if row.phase == "pre_fusion"]

    @Once
    def groups(self) -> list[Operation]:
        """The scheduler nodes after fusion, in order; those of nested graphs follow."""
        return [row for row in self.rows(Operation) if row.phase == "post_fusion"]

    @Once
    def operation_of(self) -> dict[Id, Operation]:
        """Each of `operations` by its identity."""
        return {Id.of(row): row for row in self.operations}

    @Once
    def group_of(self) -> dict[Id, Operation]:
        """Each of `groups` by its identity."""
        return {Id.of(row): row for row in self.groups}


class CompiledGraph(Graphs):
    """One graph, nested ones included."""

    name: str

    def __init__(self, dump: Dump, name: str) -> None:
        super().__init__(dump, name)

    def __iter__(self) -> Iterator["CompiledGraph"]:
        """Itself."""
        yield self

    @property
    def fact(self) -> Graph:
        """What was recorded of its compile; raises LookupError if the dump has no such graph."""
        found = self.dump.graph(self.name)
        if found is None:
            raise LookupError(f"the dump has no graph {self.name}")
        return found

    @property
    def outermost(self) -> "CompiledGraph":
        """The graph around it that was compiled on its own; itself if it was."""
        return CompiledGraph(self.dump, outermost(self.name))

    def other(self, name: str) -> "CompiledGraph":
        """Another graph of the same dump."""
        return CompiledGraph(self.dump, name)

    def own(self, rows: Iterable[R]) -> list[R]:
        """Those of the graph alone, without nested ones."""
        return [row for row in rows if row.graph == self.name]

    def text(self, name: str) -> str | None:
        """A file of the graph's folder; None if there is none."""
        return self.dump.text(self.name, name)

    def stage(self, stage: str) -> list[Node]:
        """The nodes of one stage on the way to it, in order: dynamo and joint (of its compile), aot or post_grad."""
        if stage not in ("dynamo", "joint"):
            return [node for node in self.rows(Node) if node.stage == stage]
        found = self.dump.graph(self.name)
        kind: type[Node] = DynamoNode if stage == "dynamo" else JointNode
        return [] if found is None else list(self.dump.rows_of_compile(kind, found.compile_id))

    @Once
    def symbols(self) -> tuple[Symbol, ...]:
        """Its symbols, which mean the same in nested graphs, each once, in order of first appearance."""
        found: dict[str, Symbol] = {}
        for row in self.rows(Symbol):
            known = found.get(row.name)
            is_better = known is not None and known.where is None and row.where is not None
            if known is None or is_better or row.graph == self.name != known.graph:
                found[row.name] = row
        return tuple(found.values())

    @Once
    def kernels(self) -> list[Kernel]:
        """The kernels, defined and extern, in the order of their first launch."""
        return sorted(self.rows(Kernel), key=lambda kernel: min(kernel.launches, default=1 << 30))

    @Once
    def launches(self) -> "list[Launch]":
        """The calls of kernels by line; kernels whose call was not recorded come last."""
        from inspect_compile.graph.kernels.launches import launches

        return launches(self)

    @Once
    def statements(self) -> "Statements":
        """What the kernels compute, line by line."""
        from inspect_compile.graph.kernels.statements import Statements

        return Statements(self)

    @Once
    def ledgers(self) -> "list[Ledger]":
        """The fusion ledger of the graph alone, then those of the graphs nested in it."""
        from inspect_compile.graph.fusion.ledger import ledgers

        return ledgers(self)

    @Once
    def ledger(self) -> "Ledger":
        """The fusion ledger of the graph alone."""
        from inspect_compile.graph.fusion.ledger import ledger

        return ledger(self)

    @Once
    def traffic(self) -> "LaunchTraffic":
        """The bytes that the launches read and write."""
        from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic

        return LaunchTraffic(self)

    @Once
    def memories(self) -> "dict[str, Memory]":
        """The replay of the wrapper, then of each nested graph that has one."""
        from inspect_compile.graph.memory.plan import memories

        return memories(self)

    @property
    def memory(self) -> "Memory":
        """The replay of the wrapper; the peak of a nested graph counts at the line that calls it."""
        return self.memories[self.name]

    @Once
    def provenance(self) -> "Provenance":
        """The chain of ids from the user's line to the kernel."""
        from inspect_compile.graph.provenance.chain import Provenance

        return Provenance(self)

    @Once
    def lineage(self) -> "Lineage":
        """How the nodes of the compile were made from those of its earlier graphs."""
        from inspect_compile.graph.provenance.lineage import Lineage

        return Lineage(self)
