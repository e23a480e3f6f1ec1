"""Bytes that the kernels of a graph read and write, as the scheduler counts them: caches are left aside."""

import msgspec

from inspect_compile.analysis.launches import Launch
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Node, Operation, WrapperLine


class Traffic(msgspec.Struct, frozen=True):
    """What one scheduler node after fusion reads and writes."""

    read: int
    written: int

    @property
    def moved(self) -> int:
        """Both together."""
        return self.read + self.written


class GraphTraffic(msgspec.Struct, frozen=True):
    """The traffic of one graph, nested ones included."""

    groups: dict[tuple[str, str], Traffic]
    """(graph, scheduler node after fusion) → its traffic."""
    least: int
    """Bytes of the inputs that are read and of the outputs: no compile of this graph moves less."""

    @property
    def moved(self) -> int:
        """Bytes of all groups."""
        return sum(traffic.moved for traffic in self.groups.values())

    def of(self, launch: Launch) -> Traffic:
        """What one call of a kernel reads and writes."""
        found = [self.groups[launch.graph, group] for group in launch.groups if (launch.graph, group) in self.groups]
        return Traffic(sum(traffic.read for traffic in found), sum(traffic.written for traffic in found))


def traffic(dump: Dump, graph: str) -> GraphTraffic:
    """Count `graph`.

    A write of a buffer that was never allocated stays inside its kernel and moves nothing, unless it goes to the memory
    of another one. That one is then read as a whole in torch's eyes, so that the write waits for those before it; what
    it really reads stands beside that.
    """
    real = {
        (row.graph, name) for row in dump.rows(WrapperLine, graph) for name in (row.buffer, row.becomes, *row.arguments)
    }
    placed = {of for of, _ in real}
    operations = [row for row in dump.rows(Operation, graph) if row.phase == "post_fusion"]
    written = {(row.graph, access.buffer) for row in operations for access in row.writes}
    into = {(row.graph, access.buffer): access.into for row in operations for access in row.writes if access.into}
    groups: dict[tuple[str, str], Traffic] = {}
    inputs: dict[str, int] = {}
    makers = {(row.graph, access.buffer): row.name for row in operations for access in row.writes}
    for row in operations:
        stores = [
            access
            for access in row.writes
            if access.into or row.graph not in placed or (row.graph, access.buffer) in real
        ]
        if row.ir_type == "MultiOutput" and row.reads:
            # A part of a tuple: the extern kernel that makes the tuple writes it.
            maker = row.graph, makers.get((row.graph, row.reads[0].buffer), row.name)
            so_far = groups.get(maker, Traffic(0, 0))
            groups[maker] = Traffic(so_far.read, so_far.written + _bytes(stores))
            continue
        changed = {access.into for access in row.writes if access.into} if row.kind != "extern" else set()
        reads = [
            access
            for access in row.reads
            if access.kind == "memory"
            or (access.kind == "star" and not changed & {access.buffer, into.get((row.graph, access.buffer))})
        ]
        groups[row.graph, row.name] = Traffic(_bytes(reads), _bytes(stores))
        for access in reads:
            if row.graph == graph and (graph, access.buffer) not in written:
                inputs[access.buffer] = max(inputs.get(access.buffer, 0), access.bytes or 0)
    return GraphTraffic(groups, sum(inputs.values()) + _output_bytes(dump, graph))


def _output_bytes(dump: Dump, graph: str) -> int:
    """Bytes of the outputs that are not inputs handed through."""
    nodes = [node for node in dump.rows(Node, graph) if node.graph == graph and node.stage == "post_grad"]
    inputs = {node.name for node in nodes if node.op == "placeholder"}
    made = {node.name: sum(value.bytes or 0 for value in node.values) for node in nodes if node.name not in inputs}
    return sum(made.get(name, 0) for node in nodes if node.op == "output" for name in node.inputs)


def _bytes(accesses: list[Access]) -> int:
    return sum(access.bytes or 0 for access in accesses)
