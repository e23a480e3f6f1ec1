"""Graphs that torch cuts where a bucket of DistributedDataParallel ends: what kernels hand across the cuts.

Nothing is said of a cut at which a library reads or writes: no kernel would be joined without it.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import LEAST_BYTES, Finding
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import AotMetadata, Call, Node
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.overview.findings import DDP_CUTS, WORDS

_CUTS: Final = "DDPOptimizer."
"""What the name of torch's function that cuts begins with."""
_GENERATED: Final = ("triton", "cpp")
_FORWARD: Final = ("forward", "inference")
_SEVERAL: Final = 2


class _Handed(NamedTuple):
    """A value that a kernel of one graph writes, and a kernel of another one reads."""

    value: Node
    """As the first graph's output."""
    launches: tuple[Launch, ...]

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.value.values[0].bytes or 0


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each frame that is cut."""
    cut = {row.graph for row in dump.rows(Call) if row.function.startswith(_CUTS)}
    for compile_id in sorted(cut & {graph.fact.compile_id for graph in graphs if graph.fact.compile_id is not None}):
        of_compile = (CompiledGraph(dump, fact.graph) for fact in dump.graphs_of_compile(compile_id))
        pieces = [graph for graph in of_compile if graph.fact.kind in _FORWARD]
        handed = list(_handed(dump, compile_id, pieces)) if len(pieces) >= _SEVERAL else []
        saved = 2 * sum(one.bytes for one in handed)
        if saved < LEAST_BYTES:
            continue
        cost = costs.of_bytes(saved, [launch for one in handed for launch in one.launches])
        yield Finding(
            kind=DDP_CUTS,
            graph=compile_id,
            what=WORDS[DDP_CUTS].what,
            parts=tuple(
                FindingSite(one.value.name, operator_name(one.value.target), one.value.where) for one in handed
            ),
            seconds=cost.seconds,
            sure=cost.sure,
            calls=cost.timed,
            bytes=saved,
            is_bound=True,
            why=f"the forward is {len(pieces)} graphs; {len(handed)} of the values that pass from one to another are "
            "written and read by generated kernels",
            to_do=WORDS[DDP_CUTS].to_do,
            names=(handed[0].launches[-1].kernel.name,),
        )


class _Piece(NamedTuple):
    """A graph of a frame."""

    moved: LaunchTraffic
    given: tuple[Node, ...]
    """Its inputs that an earlier graph has computed."""
    returned: tuple[Node, ...]
    """What it gives to others."""

    @classmethod
    def of(cls, graph: CompiledGraph, made: AotMetadata) -> "_Piece":
        moved = graph.traffic
        nodes = [node for node in moved.groups.nodes.values() if node.graph == graph.name]
        placeholders = [node for node in nodes if node.op == "placeholder"]
        given = zip(placeholders, made.inputs, strict=False)
        names = [name for node in nodes if node.op == "output" for name in node.inputs[: len(made.outputs)]]
        by_name = {node.name: node for node in nodes}
        return cls(
            moved,
            tuple(node for node, one in given if one.requires_grad and not one.is_leaf and node.values),
            tuple(by_name[name] for name in names if name in by_name and by_name[name].values),
        )

    def writes(self, node: Node) -> list[Launch]:
        """The generated kernels that compute it."""
        return [one for one in self.moved.launches if node.name in one.nodes and one.kernel.kind in _GENERATED]

    def reads(self, given: Node) -> list[Launch]:
        """The generated kernels that read an input."""
        generated = (one for one in self.moved.launches if one.kernel.kind in _GENERATED)
        return [
            one for one in generated if any(row.buffer == given.name and row.read for row in self.moved.of(one).buffers)
        ]


def _handed(dump: Dump, compile_id: str, graphs: list[CompiledGraph]) -> Iterator[_Handed]:
    """Of several values that an input could be, all have to be written by generated kernels."""
    made = sorted(dump.rows_of_compile(AotMetadata, compile_id), key=lambda row: row.aot_id or 0)
    if len(made) != len(graphs):
        return
    pieces = [_Piece.of(*both) for both in zip(graphs, made, strict=True)]
    for place, piece in enumerate(pieces):
        for given in piece.given:
            like = [
                (node, earlier.writes(node))
                for earlier in pieces[:place]
                for node in earlier.returned
                if node.values[0] == given.values[0]
            ]
            read = piece.reads(given)
            if read and like and all(written for _, written in like):
                value, written = like[-1]
                yield _Handed(value, (written[-1], read[0]))
