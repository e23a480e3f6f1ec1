"""What the backward keeps: activations that the forward returns for it, and what it computes again instead."""

import re
from typing import Final, TypeVar

import msgspec
from msgspec import structs

from inspect_compile.dump import Dump
from inspect_compile.facts import Graph, JointNode, Kernel, Location, MemoryPlan, Node, Partition, Saved
from inspect_compile.knowledge.saved_reasons import by_words

_HELD_BY_OTHERS: Final = ("primals_", "tangents_")
"""Names that AOTAutograd gives to the program's own tensors, and to gradients that come in."""
_AOT: Final = re.compile(r"^(.*__\d+_)")
"""What the joint graph's name and those of its parts begin with: `model__0_`."""
_DEFAULT: Final = "default_partition"

_OfJoint = TypeVar("_OfJoint", JointNode, Partition, Saved)


class Kept(msgspec.Struct, frozen=True, tag_field="fact", tag="kept"):
    """One value of the forward that the backward needs, and how it comes to it."""

    graph: str
    """The forward graph."""
    node: str
    """Of the joint graph."""
    decision: str
    """saved or recomputed."""
    bytes: int | None
    """That it takes, or would take if it were saved; None for numbers."""
    of: str
    """What is saved without memory of its own: whose memory it is."""
    is_needed: bool
    """The backward itself reads it; else only what is recomputed does."""
    where: Location | None
    size: str = ""
    """The bytes as an expression, where they have symbols."""
    why: str = ""
    """A code of `knowledge.saved_reasons`: what decided it."""
    told: str = ""
    """torch's own words, where it has any."""
    weight: int | None = None
    """What saving it counted as in torch's minimum cut."""
    readers: tuple[str, ...] = ()
    """The first nodes of the backward that read it, those that are computed again left out."""
    kernels: tuple[str, ...] = ()
    """Kernels of the backward graph that compute it again."""


class Activations(msgspec.Struct, frozen=True):
    """Of one forward graph."""

    kept: list[Kept]
    saved: int
    """Bytes that live from the forward to the backward and are nobody else's."""
    without: int
    """The same if nothing were recomputed."""
    partition: Partition | None = None
    """Who chose, and how."""
    unneeded: int = 0
    """Operators of the forward whose results the backward has no need of."""

    @property
    def again(self) -> list[Kept]:
        """What is computed again, without views."""
        return [row for row in self.kept if row.decision == "recomputed" and not row.of]


def activations(dump: Dump, graph: str) -> Activations | None:
    """Of a forward graph or its backward; None for all others."""
    facts = dump.graph(graph)
    rows = _rows(dump, facts) if facts is not None else []
    if facts is None or not rows:
        return None
    forward = _other(dump, facts, "forward").graph
    partition = next(reversed(_of_joint(dump, Partition, facts)), None)
    marks = {row.name: row.policy for row in _of_joint(dump, JointNode, facts) if row.policy}
    kernels = _computed(dump, _other(dump, facts, "backward"))
    kept = [
        Kept(
            forward,
            row.node,
            row.decision,
            row.bytes,
            row.of,
            row.is_needed,
            row.where,
            row.size,
            why(row, partition, marks.get(row.node, "")),
            row.banned or row.lifted or row.unsavable,
            row.weight,
            row.readers,
            kernels.get(row.node, ()) if row.decision == "recomputed" else (),
        )
        for row in rows
    ]
    saved = sum(row.bytes or 0 for row in rows if row.decision == "saved" and not row.of)
    without = sum(row.bytes or 0 for row in rows if row.is_needed and not row.of)
    computed = sum(not row.is_input for row in rows)
    unneeded = max(partition.forward - computed, 0) if partition is not None else 0
    return Activations(kept, saved, without, partition, unneeded)


def why(row: Saved, partition: Partition | None, mark: str) -> str:
    """What decided, as a code of `knowledge.saved_reasons`; `mark` is what the program itself said of the node."""
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
    """Who decided, where nothing is known of the node itself."""
    if partition is None:
        return ""
    if partition.cut:
        return by_cut
    if partition.budget is not None:
        return "held"
    return "default" if partition.partitioner == _DEFAULT else "custom"


def _of_joint(dump: Dump, kind: type[_OfJoint], graph: Graph) -> list[_OfJoint]:
    """The facts of the joint graph that `graph` was cut from."""
    compile_id, prefix = _group(graph)
    return [row for row in dump.rows_of_compile(kind, compile_id) if row.aot_graph.startswith(prefix)]


def _computed(dump: Dump, graph: Graph) -> dict[str, tuple[str, ...]]:
    """Node of a backward graph → the kernels that compute it."""
    found: dict[str, dict[str, None]] = {}
    for kernel in dump.rows(Kernel, graph.graph) if graph.kind == "backward" else ():
        for node in kernel.nodes:
            found.setdefault(node, {})[kernel.name] = None
    return {node: tuple(names) for node, names in found.items()}


def _other(dump: Dump, graph: Graph, kind: str) -> Graph:
    """The graph of that kind that was cut from the same joint graph; the graph itself where there is none."""
    same = [
        one for one in dump.graphs_of_compile(graph.compile_id) if one.kind == kind and _group(one) == _group(graph)
    ]
    return same[0] if same and graph.kind != kind else graph


def _group(graph: Graph) -> tuple[str | None, str]:
    found = _AOT.match(graph.graph)
    return graph.compile_id, found[1] if found else ""


def _rows(dump: Dump, graph: Graph) -> list[Saved]:
    """What the partitioner decided; `of` as Inductor then made it, which may copy what could have been a view."""
    if graph.kind not in ("forward", "backward"):
        return []
    rows = _of_joint(dump, Saved, graph)
    tensors = [row for row in rows if row.decision == "saved" and (row.bytes is not None or row.size)]
    forward = _other(dump, graph, "forward").graph
    plan = next((plan for plan in dump.rows(MemoryPlan, forward) if plan.graph == forward), None)
    returned = [name for name in plan.outputs if name] if plan is not None else []
    if plan is None or len(returned) < len(tensors):
        return rows
    outputs = returned[len(returned) - len(tensors) :]
    owners = dict.fromkeys(returned[: len(returned) - len(tensors)], "")
    made: dict[str, str] = {}
    for row, name in zip(tensors, outputs, strict=True):
        if name in plan.inputs:
            made[row.node] = row.of or name
        elif name in owners:
            made[row.node] = owners[name] or row.of or row.node
        else:
            owners[name] = row.node
            made[row.node] = ""
    return [structs.replace(row, of=made[row.node]) if row.node in made else row for row in rows]


def only_saved(dump: Dump, graph: str) -> tuple[dict[tuple[str, ...], int], dict[tuple[str, ...], int]]:
    """Inputs of a backward graph that only autograd holds, those of one piece of memory together, with its bytes.

    Then those that are also outputs of the forward: the program may hold them, or may have dropped them.
    """
    facts = dump.graph(graph)
    if facts is None or facts.kind != "backward":
        return {}, {}
    sizes = {
        node.name: node.values[0].bytes or 0
        for node in dump.rows(Node, graph)
        if node.graph == graph and node.stage == "post_grad" and node.op == "placeholder" and node.values
        if not node.name.startswith(_HELD_BY_OTHERS)
    }
    for plan in dump.rows(MemoryPlan, graph):
        if plan.graph == graph:
            sizes.update({name: size for name, size in plan.inputs.items() if name in sizes})
    saved = {row.node: row for row in _rows(dump, facts) if row.decision == "saved"}
    for name in sizes:  # what is saved may be a view: all that it is a view of lives with it
        sizes[name] = max(sizes[name], (saved[name].bytes or 0) if name in saved else 0)
    own: dict[str, list[str]] = {}
    given: dict[str, list[str]] = {}
    for name in sizes:
        owner = saved[name].of if name in saved and saved[name].of else name
        if owner.startswith(_HELD_BY_OTHERS):
            continue
        is_own = owner in saved and not saved[owner].of if saved else True
        (own if is_own else given).setdefault(owner, []).append(name)
    return _sized(own, sizes), _sized(given, sizes)


def _sized(names: dict[str, list[str]], sizes: dict[str, int]) -> dict[tuple[str, ...], int]:
    return {tuple(found): max(sizes[name] for name in found) for found in names.values()}
