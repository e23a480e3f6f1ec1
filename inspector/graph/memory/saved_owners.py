"""Who holds the memory that the forward saves for the backward: the caller, the program, or autograd alone."""

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from msgspec import structs

from inspect_compile.facts import Graph, JointNode, MemoryPlan, Partition, Saved
from inspect_compile.graph.memory.replay import replays
from inspect_compile.graph.names import aot_prefix

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_PRIMALS: Final = "primals_"
_TANGENTS: Final = "tangents_"
"""AOTAutograd's prefix for the program's tensors and the gradients among the inputs."""

_OfJoint = TypeVar("_OfJoint", JointNode, Partition, Saved)

Holder = Literal["", "caller", "program", "forward"]
"""caller: it stays alive, like a parameter; program: it is also an input or output of the program, which may have
dropped it when the backward begins; forward: only autograd holds it; empty: it is not saved, or the forward's code does
not say.
"""


class Held(NamedTuple):
    """A value that the partitioner decided about, and who holds the memory that it is in."""

    row: Saved
    """The fact, with `of` and `bytes` as Inductor implemented them."""
    holder: Holder
    memory: object = ()
    """Identifies the memory: equal for values that share it."""
    size: int = 0
    """Size of that memory in bytes."""

    @property
    def is_copied_input(self) -> bool:
        """True if it is an input that the forward returns a copy of, in another layout."""
        return self.holder == "forward" and self.row.is_input and not self.row.of


def held(graph: "CompiledGraph") -> list[Held]:
    """What the partitioner decided for a forward graph and its backward, corrected by what the forward's code returns.

    The code may return a copy of what could have been a view, and of an input that needs another layout.
    """
    if graph.fact.kind not in ("forward", "backward"):
        return []
    rows = of_joint(graph, Saved)
    tensors = [row for row in rows if row.decision == "saved" and (row.bytes is not None or row.size)]
    forward = other(graph, "forward")
    replay = replays(forward)[forward.name]
    returned = [name for name in replay.plan.outputs if name] if replay.plan is not None else []
    if replay.plan is None or forward.fact.kind != "forward" or len(returned) < len(tensors):
        return [Held(row, "") for row in rows]
    storages = replay.play(forward.name, {}, [], is_planned=True).storages
    first = len(returned) - len(tensors)
    owners = {piece: "" for name in returned[:first] for piece in storages.of(name)}
    found: dict[str, Held] = {}
    for row, name in zip(tensors, returned[first:], strict=True):
        pieces = tuple(storages.of(name))
        size = sum(storages.all[piece].bytes for piece in pieces)
        owner = next((owners[piece] for piece in pieces if piece in owners), None)
        if name in replay.plan.inputs or (not pieces and storages.knows(name)):
            holder: Holder = "program" if row.is_static is False else "caller"
            found[row.node] = Held(structs.replace(row, of=row.of or name), holder, row.of or name, row.bytes or 0)
        elif owner == "":
            of = row.node if row.of in replay.plan.inputs else row.of or row.node
            found[row.node] = Held(structs.replace(row, of=of), "program", pieces, size)
        elif owner is not None:
            found[row.node] = Held(structs.replace(row, of=owner), "forward", pieces, size)
        elif pieces:
            owners.update(dict.fromkeys(pieces, row.node))
            found[row.node] = Held(structs.replace(row, of="", bytes=size), "forward", pieces, size)
    return [found.get(row.node, Held(row, "")) if row.decision == "saved" else Held(row, "") for row in rows]


def saved_pieces(graph: "CompiledGraph") -> frozenset[int]:
    """Indices of the storages of a forward graph that only autograd holds once it has returned."""
    if graph.fact.kind != "forward":
        return frozenset()
    pieces = [one.memory for one in held(graph) if one.holder == "forward" and isinstance(one.memory, tuple)]
    return frozenset(piece for own in pieces for piece in own if isinstance(piece, int))


class OnlySaved(NamedTuple):
    """Inputs of a backward graph that it may free, grouped by memory, with bytes."""

    own: dict[tuple[str, ...], int]
    """Inputs that only autograd holds, and gradients that are handed over."""
    given: dict[tuple[str, ...], int]
    """Inputs that others may hold: inputs and outputs of the forward, no parameters, and gradients kept elsewhere."""


def only_saved(graph: "CompiledGraph") -> OnlySaved:
    """The inputs that a backward graph may free; empty for any other graph."""
    facts = graph.dump.graph(graph.name)
    if facts is None or facts.kind != "backward":
        return OnlySaved({}, {})
    saved = {one.row.node: one for one in held(graph) if one.row.decision == "saved"}
    own: dict[object, list[str]] = {}
    given: dict[object, list[str]] = {}
    sizes, tangents = _inputs(graph)
    for name, size in sizes.items():
        one = saved.get(name)
        holder, owner = (one.holder, one.memory) if one is not None and one.holder else _by_name(name, saved, tangents)
        row_bytes = one.row.bytes or 0 if one is not None else 0
        sizes[name] = one.size if one is not None and one.holder else max(size, row_bytes)
        if holder != "caller":
            (own if holder == "forward" else given).setdefault(owner, []).append(name)
    return OnlySaved(_sized(own, sizes), _sized(given, sizes))


def _sized(names: dict[object, list[str]], sizes: dict[str, int]) -> dict[tuple[str, ...], int]:
    return {tuple(found): max(sizes[name] for name in found) for found in names.values()}


def _by_name(name: str, saved: dict[str, Held], tangents: dict[str, Holder]) -> tuple[Holder, object]:
    """Who holds an input, and whose memory it is, by the partitioner's decision, if the forward's code is not known."""
    owner = (saved[name].row.of if name in saved else "") or name
    if owner.startswith((_PRIMALS, _TANGENTS)):
        return tangents.get(owner, "caller"), owner
    return "forward" if not saved or (owner in saved and not saved[owner].row.of) else "program", owner


def _inputs(graph: "CompiledGraph") -> tuple[dict[str, int], dict[str, Holder]]:
    """The input tensors with their bytes, and who holds those that are gradients.

    Even if torch does not hand a gradient over, it passes a copy of one whose layout is not the expected one. A
    gradient without dimensions is that of the loss: whoever started the backward holds it.
    """
    nodes = {
        node.name: node.values[0]
        for node in graph.nodes
        if node.graph == graph.name and node.op == "placeholder" and node.values
    }
    sizes = {name: value.bytes or 0 for name, value in nodes.items()}
    holder: Holder = "program"
    for plan in graph.rows(MemoryPlan):
        if plan.graph == graph.name:
            sizes.update({name: size for name, size in plan.inputs.items() if name in sizes})
            holder = "forward" if plan.frees_tangents else "program"
    return sizes, {name: holder for name, value in nodes.items() if name.startswith(_TANGENTS) and value.size}


def of_joint(graph: "CompiledGraph", kind: type[_OfJoint]) -> list[_OfJoint]:
    """The facts of the joint graph that `graph` was cut from."""
    compile_id, prefix = _group(graph.fact)
    return [row for row in graph.dump.rows_of_compile(kind, compile_id) if row.aot_graph.startswith(prefix)]


def other(graph: "CompiledGraph", kind: str) -> "CompiledGraph":
    """The graph of that kind that was cut from the same joint graph; `graph` itself if there is none."""
    same = [
        one
        for one in graph.dump.graphs_of_compile(graph.fact.compile_id)
        if one.kind == kind and _group(one) == _group(graph.fact)
    ]
    return graph.other(same[0].graph) if same and graph.fact.kind != kind else graph


def _group(graph: Graph) -> tuple[str | None, str]:
    return graph.compile_id, aot_prefix(graph.graph)
