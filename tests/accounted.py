"""Where nothing may be missing."""

from inspect_compile.dump import Dump
from inspect_compile.facts import Node, Pass
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.passes.changes import stages


def without_gaps(dump: Dump) -> list[Pass]:
    """Every edit is of a pass, a pattern or a function with a name, and they account for every node."""
    rows = dump.rows(Pass)
    assert not [row for row in rows if row.kind == "unknown"]
    by_parent: dict[int | None, list[Pass]] = {}
    for row in rows:
        by_parent.setdefault(row.parent, []).append(row)

    def net(row: Pass) -> int:
        own = sum({"added": 1, "removed": -1}.get(edit.what, 0) for edit in row.edits)
        inner = [child for child in by_parent.get(row.index, ()) if child.kind != "stage"]  # these have another graph
        return own + sum(map(net, inner))

    for row in rows:
        assert row.before + net(row) == row.after, row
    for graph in dump.graphs():
        if graph.parent is None and graph.kind in ("forward", "backward", "inference"):
            post = next(stage for stage in stages(CompiledGraph(dump, graph.graph)) if stage.stage == "post_grad")
            own = [node for node in dump.rows(Node, graph.graph) if node.graph == graph.graph]
            assert post.before == sum(node.stage == "aot" for node in own)
            assert post.after == sum(node.stage == "post_grad" for node in own)
    return rows
