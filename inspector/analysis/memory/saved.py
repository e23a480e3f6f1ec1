"""What the backward needs of the forward: values saved for it, and values that it computes again."""

from typing import Final

import msgspec

from inspect_compile.facts import JointNode, Kernel, Location, Partition, Saved
from inspect_compile.graph import CompiledGraph, shared_fields
from inspect_compile.graph.memory.saved_owners import held, of_joint, other
from inspect_compile.knowledge.memory.saved_reasons import COPIED, by_words

_DEFAULT: Final = "default_partition"


class NeededActivation(msgspec.Struct, frozen=True, tag_field="fact", tag="kept"):
    """One value of the forward that the backward needs, and how it gets it."""

    graph: str
    """The forward graph."""
    node: str
    """Name in the joint graph."""
    decision: str
    """`saved` or `recomputed`."""
    bytes: int | None
    """Bytes that it takes, or would take if it were saved; None for numbers."""
    of: str
    """For a value saved without memory, the value whose memory it shares."""
    is_needed: bool
    """True if the backward itself reads it; else only recomputation does."""
    where: Location | None
    size: str = ""
    """The bytes as an expression, if they are symbolic."""
    why: str = ""
    """Code in `knowledge.memory.saved_reasons`: what decided."""
    told: str = ""
    """torch's own explanation, if any."""
    weight: int | None = None
    """Weight of saving it in torch's min cut."""
    readers: tuple[str, ...] = ()
    """The first nodes of the backward that read it, recomputed nodes left out."""
    kernels: tuple[str, ...] = ()
    """Kernels of the backward graph that compute it again."""


class Activations(msgspec.Struct, frozen=True):
    """What is saved and recomputed for one forward graph."""

    kept: list[NeededActivation]
    """What is saved first; within that what takes memory of its own, the largest first."""
    saved: int
    """Bytes that live from the forward to the backward only for it."""
    without: int
    """The same if nothing were recomputed."""
    partition: Partition | None = None
    """Which partitioner decided, and how."""
    unneeded: int = 0
    """Operators of the forward whose results the backward does not need."""

    @property
    def again(self) -> list[NeededActivation]:
        """What is computed again, without views."""
        return [row for row in self.kept if row.decision == "recomputed" and not row.of]


def activations(graph: CompiledGraph) -> Activations | None:
    """The activations of a forward graph or of its backward; None for any other graph."""
    found = held(graph) if graph.dump.graph(graph.name) is not None else []
    if not found:
        return None
    rows = [one.row for one in found]
    forward = other(graph, "forward").name
    partition = next(reversed(of_joint(graph, Partition)), None)
    marks = {row.name: row.policy for row in of_joint(graph, JointNode) if row.policy}
    kernels = _computed(other(graph, "backward"))
    kept = [
        NeededActivation(
            **shared_fields(row, NeededActivation, "graph"),
            graph=forward,
            why=COPIED if one.is_copied_input else why(row, partition, marks.get(row.node, "")),
            told=row.banned or row.lifted or row.unsavable,
            kernels=kernels.get(row.node, ()) if row.decision == "recomputed" else (),
        )
        for one in found
        for row in (one.row,)
    ]
    kept.sort(key=lambda row: (row.decision != "saved", bool(row.of), -(row.bytes or 0)))
    saved = sum(row.bytes or 0 for row in rows if row.decision == "saved" and not row.of)
    without = sum(row.bytes or 0 for row in rows if row.is_needed and not row.of)
    computed = sum(not row.is_input for row in rows)
    unneeded = max(partition.forward - computed, 0) if partition is not None else 0
    return Activations(kept, saved, without, partition, unneeded)


def why(row: Saved, partition: Partition | None, mark: str) -> str:
    """What decided, a code of `knowledge.memory.saved_reasons`; `mark` is what the program itself said of the node."""
    known = by_words(row.banned or row.unsavable)
    if row.decision == "recomputed":
        if row.policy.endswith("recompute"):
            return "checkpoint"
        if row.lifted or (partition is not None and partition.budget == 0):
            return "budget"
        return known.code if known is not None else _by_partitioner(partition, "cheap")
    if row.is_input:
        return "input"
    if row.policy == "must_save":
        return "must-save" if mark == row.policy else "marked-by-torch"
    if known is None and row.banned:
        return "banned"
    return known.code if known is not None else _by_partitioner(partition, "cut")


def _by_partitioner(partition: Partition | None, by_cut: str) -> str:
    """The code to use if nothing is known about the node itself."""
    if partition is None:
        return ""
    if partition.cut:
        return by_cut
    if partition.budget is not None:
        return "held"
    return "default" if partition.partitioner == _DEFAULT else "custom"


def _computed(graph: CompiledGraph) -> dict[str, tuple[str, ...]]:
    """Node of a backward graph → kernels that compute it."""
    found: dict[str, dict[str, None]] = {}
    for kernel in graph.rows(Kernel) if graph.fact.kind == "backward" else ():
        for node in kernel.nodes:
            found.setdefault(node, {})[kernel.name] = None
    return {node: tuple(names) for node, names in found.items()}
