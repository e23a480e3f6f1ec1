"""What each pass changed in the FX graphs, and what changed between passes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Edit, Graph, Node, Pass

STAGES: Final = ("pre_grad", "joint", "post_grad")
_DEEPEST: Final = 100
"""Maximum depth of nested passes that is shown; a compile has about ten."""


class Ran(msgspec.Struct, frozen=True):
    """One pass, with everything that ran inside it."""

    row: Pass
    depth: int
    """Nesting depth in its stage; 0 for the stage itself."""
    own: bool
    """Whether it changed something itself."""
    changed: bool
    """Whether it, or something inside it, changed something."""
    inside: tuple["Ran", ...] = ()


class StageRun(msgspec.Struct, frozen=True):
    """The passes over one graph, including those over its nested graphs."""

    graph: str
    """The graph's name, or the compile id before Inductor has named it."""
    stage: str
    before: int
    """Number of nodes."""
    after: int
    seconds: float
    runs: tuple[Ran, ...]
    """In order; each is followed by what ran inside it."""

    @property
    def changed(self) -> list[Ran]:
        """The passes that changed something."""
        return [run for run in self.runs if run.changed]

    @property
    def folded(self) -> list[Ran]:
        """The passes that changed nothing, without pattern matches."""
        return [run for run in self.runs if not run.changed and run.row.kind != "pattern"]


SIGNS: Final = {"added": "+", "removed": "−", "changed": "~"}


def changes(row: Pass) -> dict[str, str]:
    """What a pass itself changed: kind → count, such as `+25`; without kinds that it did not change."""
    counts = Counter(edit.what for edit in row.edits)
    return {what: f"{sign}{counts[what]:,}" for what, sign in SIGNS.items() if counts[what]}


class Step(msgspec.Struct, frozen=True):
    """The change in the number of nodes between two stages, and its cause."""

    stage: str
    """The stage after it."""
    what: str
    before: int
    after: int


def edit_lines(edit: Edit) -> Iterator[tuple[str, str]]:
    """What it removed and added: (removed or added, `− view = aten.view.default(%mul, [8, 4])`)."""
    for what, text in (("removed", edit.before), ("added", edit.after)):
        if text:
            yield what, f"{SIGNS[what]} {edit.node} = {text}"


def passes_of(dump: Dump, compile_id: str | None, graphs: Iterable[str]) -> list[Pass]:
    """The passes over a compile's graphs before Inductor had them, then those over each of `graphs`."""
    return [*dump.rows_of_compile(Pass, compile_id), *(row for graph in graphs for row in dump.rows(Pass, graph))]


def stages(dump: Dump, graph: Graph) -> list[StageRun]:
    """The stages of the compile that `graph` belongs to, then those of the graph, in the order in which they ran."""
    rows = passes_of(dump, graph.compile_id, (graph.graph,))
    found: list[StageRun] = []
    for top in [row for row in rows if row.parent is None]:
        mine = _inside(rows, top)
        tree = _tree(mine, top, 0)
        if found and (found[-1].graph, found[-1].stage) == (top.graph, top.stage):
            # An edit that torch makes before the stage's passes belongs to the stage.
            first = found.pop()
            found.append(
                StageRun(
                    top.graph,
                    top.stage,
                    first.before,
                    top.after,
                    first.seconds + top.seconds,
                    (*first.runs, *_flat(tree.inside)),
                )
            )
        else:
            found.append(StageRun(top.graph, top.stage, top.before, top.after, top.seconds, tuple(_flat(tree.inside))))
    return found


def begins(stage: StageRun) -> dict[int, float]:
    """Index of each pass → seconds of passes before it. Time that torch spends between passes is not known."""
    found: dict[int, float] = {}

    def place(runs: Iterable[Ran], at: float) -> None:
        for run in runs:
            found[run.row.index] = at
            place(run.inside, at)
            at += run.row.seconds

    place((run for run in stage.runs if run.depth == 1), 0.0)
    return found


def steps(dump: Dump, graph: Graph, ran: list[StageRun]) -> list[Step]:
    """Changes in the number of nodes that no pass made: AOTAutograd's tracing, and its partitioner."""
    by_stage = {stage.stage: stage for stage in ran}
    pre, joint, post = (by_stage.get(stage) for stage in STAGES)
    dynamo = len(dump.rows_of_compile(DynamoNode, graph.compile_id))
    handed = sum(1 for node in dump.rows(Node, graph.graph) if node.stage == "aot" and node.graph == graph.graph)
    found = []
    before = pre.after if pre is not None else dynamo
    if joint is not None and before:
        found.append(Step("joint", "AOTAutograd traces the graph", before, joint.before))
    if joint is not None and handed and handed != joint.after:
        found.append(Step("post_grad", f"the partitioner takes the {graph.kind} out of it", joint.after, handed))
    if post is not None and handed and handed != post.before:
        found.append(Step("post_grad", "between the partitioner and the passes", handed, post.before))
    return found


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


def _tree(rows: list[Pass], row: Pass, depth: int) -> Ran:
    children: dict[int | None, list[Pass]] = {}
    for one in rows:
        children.setdefault(one.parent, []).append(one)
    return _ran(children, row, depth)


def _ran(children: dict[int | None, list[Pass]], row: Pass, depth: int) -> Ran:
    inside = tuple(_ran(children, child, depth + 1) for child in children.get(row.index, ()))
    own = bool(row.edits or row.moved or row.error)
    return Ran(row, depth, own, own or any(run.changed for run in inside), inside)


def _flat(runs: tuple[Ran, ...]) -> list[Ran]:
    return [found for run in runs for found in (run, *_flat(run.inside))]
