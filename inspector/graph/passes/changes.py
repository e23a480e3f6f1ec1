"""What each pass changed in the FX graphs, and what changed between passes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from msgspec.structs import asdict

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Edit, Location, Node, Pass
from inspect_compile.graph.rows import grouped

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph, Graphs

STAGES: Final = ("pre_grad", "joint", "post_grad")
_DEEPEST: Final = 100
"""Maximum depth of nested passes that is shown; a compile has about ten."""


class PassRow(Pass, frozen=True, kw_only=True, tag="pass_row"):
    """One pass with its place among the others, and what it changed as counts."""

    depth: int
    """Nesting depth in its stage; 0 for the stage itself."""
    began: float
    """Seconds of the passes before it in its stage. Time that torch spends between passes is not known."""
    is_own: bool
    """True if it changed something itself."""
    has_changed: bool
    """True if it, or something inside it, changed something."""
    changes: dict[str, int]
    """What it changed itself: `added`, `removed`, `changed` → number of nodes; without kinds that it did not change."""


class StageRun(msgspec.Struct, frozen=True):
    """The passes over one graph, including those over its nested graphs."""

    graph: str
    """The graph's name, or the compile id before Inductor has named it."""
    stage: str
    before: int
    """Number of nodes."""
    after: int
    seconds: float
    runs: tuple[PassRow, ...]
    """In order; each is followed by what ran inside it."""

    @property
    def changed(self) -> list[PassRow]:
        """The passes that changed something."""
        return [run for run in self.runs if run.has_changed]

    @property
    def folded(self) -> list[PassRow]:
        """The passes that changed nothing, without pattern matches."""
        return [run for run in self.runs if not run.has_changed and run.kind != "pattern"]

    def inside(self, run: PassRow) -> list[PassRow]:
        """What ran directly inside one of its passes."""
        return [other for other in self.runs if other.parent == run.index and other.index != run.index]


SIGNS: Final = {"added": "+", "removed": "−", "changed": "~"}


class EditSide(NamedTuple):
    """What an edit removed, or what it added: an edit that changed a node has both."""

    what: str
    """removed or added."""
    node: str
    text: str
    where: Location | None


class Step(msgspec.Struct, frozen=True):
    """The change in the number of nodes between two stages, and its cause."""

    stage: str
    """The stage after it."""
    what: str
    before: int
    after: int


def edit_sides(edit: Edit) -> list[EditSide]:
    """What it removed, then what it added."""
    both = (("removed", edit.before), ("added", edit.after))
    return [EditSide(what, edit.node, text, edit.where) for what, text in both if text]


def edit_lines(edit: Edit) -> list[tuple[str, str]]:
    """What it removed and added: (removed or added, `− view = aten.view.default(%mul, [8, 4])`)."""
    return [(side.what, f"{SIGNS[side.what]} {side.node} = {side.text}") for side in edit_sides(edit)]


def passes_of(dump: Dump, compile_id: str | None, graphs: "Iterable[CompiledGraph]") -> list[Pass]:
    """The passes over a compile's graphs before Inductor had them, then those over each of `graphs`."""
    return [*dump.rows_of_compile(Pass, compile_id), *(row for graph in graphs for row in graph.rows(Pass))]


def stages(graph: "CompiledGraph") -> list[StageRun]:
    """The stages of the compile that `graph` belongs to, then those of the graph, in the order in which they ran."""
    found: list[StageRun] = []
    for top, *runs in _stages(passes_of(graph.dump, graph.fact.compile_id, [graph])):
        before, seconds, earlier = top.before, top.seconds, tuple[PassRow, ...]()
        if found and (found[-1].graph, found[-1].stage) == (top.graph, top.stage):
            # An edit that torch makes before the stage's passes belongs to the stage.
            first = found.pop()
            before, seconds, earlier = first.before, first.seconds + top.seconds, first.runs
        found.append(StageRun(top.graph, top.stage, before, top.after, seconds, (*earlier, *runs)))
    return found


def pass_rows(graphs: "Graphs") -> list[PassRow]:
    """The stages of the compiles of `graphs`, then those of the graphs; each is followed by what ran inside it."""
    compiles = dict.fromkeys(fact.compile_id for fact in graphs.facts)
    of_compiles = [graphs.dump.rows_of_compile(Pass, one) for one in compiles]
    of_graphs = [graph.rows(Pass) for graph in graphs]
    return [row for rows in (*of_compiles, *of_graphs) for stage in _stages(rows) for row in stage]


def steps(graph: "CompiledGraph", ran: list[StageRun]) -> list[Step]:
    """Changes in the number of nodes that no pass made: AOTAutograd's tracing, and its partitioner."""
    by_stage = {stage.stage: stage for stage in ran}
    pre, joint, post = (by_stage.get(stage) for stage in STAGES)
    dynamo = len(graph.dump.rows_of_compile(DynamoNode, graph.fact.compile_id))
    handed = sum(1 for node in graph.rows(Node) if node.stage == "aot" and node.graph == graph.name)
    found = []
    before = pre.after if pre is not None else dynamo
    if joint is not None and before:
        found.append(Step("joint", "AOTAutograd traces the graph", before, joint.before))
    if joint is not None and handed and handed != joint.after:
        found.append(Step("post_grad", f"the partitioner takes the {graph.fact.kind} out of it", joint.after, handed))
    if post is not None and handed and handed != post.before:
        found.append(Step("post_grad", "between the partitioner and the passes", handed, post.before))
    return found


def _stages(rows: list[Pass]) -> Iterator[list[PassRow]]:
    """Each stage, followed by what ran inside it. One right after another of its name goes on where that ended."""
    last, seconds = ("", ""), 0.0
    for top in [row for row in rows if row.parent is None]:
        began = seconds if last == (top.graph, top.stage) else 0.0
        yield _rows(grouped(_inside(rows, top), lambda one: one.parent), top, 0, began)
        last, seconds = (top.graph, top.stage), began + top.seconds


def _inside(rows: list[Pass], top: Pass) -> list[Pass]:
    """What ran inside `top`, each once: a damaged dump may say that a pass ran inside itself, or inside two."""
    depths: dict[int | None, int] = {top.index: 0}
    found = []
    for row in rows:
        around = depths.get(row.parent, _DEEPEST)
        if around < _DEEPEST and row.index not in depths:
            depths[row.index] = around + 1
            found.append(row)
    return found


def _rows(children: dict[int | None, list[Pass]], row: Pass, depth: int, began: float) -> list[PassRow]:
    """The row of a pass, and the rows of what ran inside it."""
    inside: list[PassRow] = []
    start = began
    for child in children.get(row.index, ()):
        inside += _rows(children, child, depth + 1, start)
        start += child.seconds
    is_own = bool(row.edits or row.moved or row.error)
    counts = Counter(edit.what for edit in row.edits)
    own = PassRow(
        **asdict(row),
        depth=depth,
        began=began,
        is_own=is_own,
        has_changed=is_own or any(run.has_changed for run in inside),
        changes={what: counts[what] for what in SIGNS if counts[what]},
    )
    return [own, *inside]
