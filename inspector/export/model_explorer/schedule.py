"""The schedule: operations in the layers of their kernels, and launches in the layers of nn.Modules."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.cost.flops import modules_around
from inspect_compile.analysis.cost.launch_figures import Figures
from inspect_compile.diagrams.schedule.inputs import inputs
from inspect_compile.diagrams.schedule.units import Schedule, Unit
from inspect_compile.diagrams.schedule.words import computing, listed
from inspect_compile.export.model_explorer.records import (
    ExplorerGraph,
    GraphNode,
    IncomingEdge,
    KeyValue,
    MetadataItem,
    attributes,
    label,
    namespace,
    tensor_metadata,
    within,
)
from inspect_compile.facts import Access, Operation
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.tables.text import lines_text, nested_name, one_line

if TYPE_CHECKING:
    from inspect_compile.facts import Node

MOST_NODES: Final = 12
"""FX nodes that one attribute names."""
_INPUTS: Final = "inputs"


class Scheduled:
    """Two graphs of one compiled graph: `operations` in kernels, and `launches` in modules."""

    def __init__(self, graph: "CompiledGraph", schedule: Schedule, figures: dict[str, Figures]) -> None:
        self._graph = graph.fact
        self._schedule = schedule
        self._figures = figures
        self._nodes: dict[Id, Node] = graph.node_of
        self._inputs = {
            name: inputs(CompiledGraph(graph.dump, name)) for name in {unit.graph for unit in schedule.units}
        }
        self._unit_of: dict[Id, int] = {
            Id(unit.graph, operation.name): place
            for place, unit in enumerate(schedule.units)
            for operation in unit.operations()
        }

    @property
    def operations_id(self) -> str:
        """The id of the graph of operations."""
        return f"{self._graph.graph}: schedule, operations in kernels"

    @property
    def launches_id(self) -> str:
        """The id of the graph of launches."""
        return f"{self._graph.graph}: schedule, launches in modules"

    def operations(self) -> ExplorerGraph:
        """Each operation with what it reads; a generated kernel is a layer, in it each group that was fused."""
        group_attributes: dict[str, dict[str, str]] = {"": self._about()}
        nodes = [self._input(key, reads[0][1]) for key, reads in self._schedule.reads.items()]
        read: dict[Id, list[IncomingEdge]] = {}
        for key, reads in self._schedule.reads.items():
            for reader, _ in reads:
                read.setdefault(Id.of(reader), []).append(IncomingEdge(_input_id(key)))
        for link in self._schedule.links:
            for buffer in link.reads:
                edge = IncomingEdge(_id(link.tail), one_line(buffer))
                read.setdefault(link.head, []).append(edge)
        for unit in self._schedule.units:
            kernel = (_kernel(unit.launch),) if unit.launch is not None and unit.is_kernel else ()
            if kernel:
                group_attributes[_layer(unit, *kernel)] = {one.key: one.value for one in self._of_launch(unit)}
            for group in unit.groups:
                fused = (group.key[1],) if kernel and len(unit.groups) > 1 else ()
                where = _layer(unit, *kernel, *fused)
                for operation in group.operations:
                    key = Id.of(operation)
                    nodes.append(self._operation(unit, operation, where, _numbered(read.get(key, []))))
        returned = [
            IncomingEdge(_id(Id(unit.graph, operation.name)))
            for unit in self._schedule.units
            for operation in unit.operations()
            if unit.graph == self._graph.graph and "OUTPUT" in operation.users
        ]
        if returned:
            nodes.append(GraphNode("output", "output", incoming_edges=_numbered(returned)))
        return ExplorerGraph(self.operations_id, within(nodes), group_attributes)

    def launches(self) -> ExplorerGraph:
        """Each launch of a kernel as one node, in the module that all of its FX nodes are in."""
        read: dict[int, dict[tuple[int, str], None]] = {}
        for link in self._schedule.links:
            tail, head = self._unit_of[link.tail], self._unit_of[link.head]
            if tail != head:
                read.setdefault(head, {}).update({(tail, buffer): None for buffer in link.reads})
        nodes = [
            GraphNode(
                self._launch_id(place),
                label(unit.launch.kernel.name if unit.launch is not None else unit.groups[0].key[1]),
                self._module(unit),
                (),
                self._of_launch(unit),
                _numbered(IncomingEdge(self._launch_id(tail), one_line(name)) for tail, name in read.get(place, ())),
                list(self._outputs(unit.operations())),
            )
            for place, unit in enumerate(self._schedule.units)
        ]
        return ExplorerGraph(self.launches_id, within(nodes), {"": self._about()})

    def values(self, figures: Figures) -> tuple[dict[str, float], dict[str, float]]:
        """The values of operations, each of the launch that runs it, and of launches."""
        operations: dict[str, float] = {}
        launches: dict[str, float] = {}
        for place, unit in enumerate(self._schedule.units):
            value = None if unit.launch is None else figures.of.get(unit.launch.key)
            if value is not None:
                launches[self._launch_id(place)] = value
                operations.update({_id(Id(unit.graph, one.name)): value for one in unit.operations()})
        return operations, launches

    def _launch_id(self, place: int) -> str:
        """The id of a launch in the graph of launches."""
        unit = self._schedule.units[place]
        return f"{place} {_id(unit.groups[0].key)}"

    def _about(self) -> dict[str, str]:
        graph = self._graph
        pairs = attributes(graph=graph.graph, kind=graph.kind, compile=graph.compile_id, device=graph.device)
        return {one.key: one.value for one in pairs}

    def _module(self, unit: Unit) -> str:
        """The layer of the module that everything in it is in."""
        nodes = [self._nodes.get(Id(unit.graph, name)) for operation in unit.operations() for name in operation.nodes]
        paths = [modules_around(node.module) for node in nodes if node is not None and node.op.startswith("call_")]
        common = takewhile(lambda layers: len(set(layers)) == 1, zip(*paths, strict=False))
        return _layer(unit, *(layers[0].rpartition(".")[2] for layers in common))

    def _of_launch(self, unit: Unit) -> list[KeyValue]:
        launch = unit.launch
        operations = list(unit.operations())
        names = list(dict.fromkeys(name for operation in operations for name in operation.nodes))
        found = [Id(unit.graph, name) for name in names]
        lines = dict.fromkeys(
            where for key in found if (node := self._nodes.get(key)) is not None and (where := node.where) is not None
        )
        pairs = attributes(
            kernel=launch.kernel.name if launch is not None else None,
            kind=(launch.kernel.form or launch.kernel.kind) if launch is not None else operations[0].kind,
            line_of_output_code=launch.line if launch is not None else None,
            operations=_some([operation.name for operation in operations]),
            FX_nodes=_some(names),
            lines=lines_text(lines),
        )
        if launch is not None:
            for figures in self._figures.values():
                value = figures.of.get(launch.key)
                pairs += attributes(**{figures.what: None if value is None else f"{value:.6g}"})
        return pairs

    def _operation(self, unit: Unit, operation: Operation, where: str, edges: list[IncomingEdge]) -> GraphNode:
        nodes = [self._nodes[key] for name in operation.nodes if (key := Id(operation.graph, name)) in self._nodes]
        lines = dict.fromkeys(node.where for node in nodes if node.where is not None)
        is_call = unit.launch is not None and not unit.is_kernel
        shown = unit.launch.kernel.name if unit.launch is not None and is_call else listed(computing(operation.nodes))
        return GraphNode(
            _id(Id.of(operation)),
            label(shown or operation.name),
            where,
            (),
            attributes(
                name=operation.name,
                kind=operation.kind,
                FX_nodes=_some(operation.nodes),
                lines=lines_text(lines),
                elements=operation.numel,
                reduced=operation.rnumel if operation.rnumel not in ("", "1") else None,
                reads=_some([_access(one) for one in operation.reads]),
                writes=_some([_access(one) for one in operation.writes]),
                runs_after=_some(operation.predecessors),
                kernel=unit.launch.kernel.name if unit.launch is not None else None,
            ),
            edges,
            list(self._outputs([operation])),
        )

    def _outputs(self, operations: Iterable[Operation]) -> Iterator[MetadataItem]:
        """What is known of each buffer that is written; edges name it."""
        for operation in operations:
            size = {one.buffer: one.bytes for one in operation.writes}
            for buffer in operation.buffers:
                is_stored = self._schedule.is_stored(operation.graph, buffer)
                pairs = attributes(
                    tensor_name=buffer,
                    shape=operation.numel,
                    bytes=size.get(buffer),
                    memory="" if is_stored else "none: stays inside the kernel",
                )
                yield MetadataItem(one_line(buffer), pairs)

    def _input(self, key: Id, access: Access) -> GraphNode:
        graph, name = key
        known = self._inputs.get(graph, {}).get(name)
        tensor = known.tensor if known is not None else None
        return GraphNode(
            _input_id(key),
            label(known.text if known is not None else name),
            namespace(*graph.split("/")[1:], _INPUTS),
            (),
            attributes(name=name, role=known.role if known is not None else None, bytes=access.whole),
            [],
            [] if tensor is None else [tensor_metadata(0, name, tensor)],
        )


def _layer(unit: Unit, *parts: str) -> str:
    """Layers inside those of the nested graph that the unit is in."""
    return namespace(*unit.graph.split("/")[1:], *parts)


def _kernel(launch: Launch) -> str:
    """The layer of a generated kernel: its name, and the line of the output code that launches it."""
    return launch.kernel.name + ("" if launch.line is None else f" (line {launch.line})")


def _id(key: Id) -> str:
    return nested_name(*key)


def _input_id(key: Id) -> str:
    return f"input {_id(key)}"


def _numbered(edges: Iterable[IncomingEdge]) -> list[IncomingEdge]:
    """Each edge once, to an input of its own."""
    return [
        IncomingEdge(edge.source_node_id, edge.source_node_output_id, str(place))
        for place, edge in enumerate(dict.fromkeys(edges))
    ]


def _access(access: Access) -> str:
    return f"{access.buffer}[{access.index}]" if access.index is not None else access.buffer


def _some(names: Iterable[str], most: int = MOST_NODES) -> str:
    found = list(names)
    return ", ".join(found[:most]) + (f", +{len(found) - most}" if len(found) > most else "")
