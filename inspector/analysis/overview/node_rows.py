"""The rows of a node's page: the node and its relatives, then the facts about it."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.overview.node_story import KinRow, NodeStory


class NodeSummary(msgspec.Struct, frozen=True, tag_field="fact", tag="node_page"):
    """One node and its relatives: the first row of `show node N --json`, followed by their facts."""

    graph: str
    stage: str
    node: str
    ancestors: tuple[KinRow, ...]
    """Nodes that it was made from, farthest first."""
    descendants: tuple[KinRow, ...]
    """Nodes that were made from it, nearest first."""
    why_none: str
    operations: tuple[str, ...]
    buffers: tuple[str, ...]
    kernels: tuple[str, ...]
    flops: int


def node_rows(story: NodeStory) -> Iterator[msgspec.Struct]:
    """The node, then the facts about it."""
    steps = [one.step.row for one in story.lowered if one.step is not None]
    buffers = [name for row in story.operations for name in row.buffers]
    rows = story.kin_rows
    own = next(index for index, row in enumerate(rows) if row.is_own)
    yield NodeSummary(
        graph=story.kin.graph,
        stage=story.kin.stage,
        node=story.kin.name,
        ancestors=tuple(rows[:own]),
        descendants=tuple(rows[own + 1 :]),
        why_none=story.why_none,
        operations=tuple(row.name for row in story.operations),
        buffers=tuple(dict.fromkeys([*buffers, *(name for row in steps for name in row.buffers)])),
        kernels=tuple(dict.fromkeys(ran.launch.kernel.name for ran in story.ran)),
        flops=story.flops,
    )
    yield from story.nodes.values()
    yield from {id(row): row for row, _ in story.passes}.values()
    for lowered in story.lowered:
        if lowered.step is not None:
            yield lowered.step.row
        yield from lowered.asks
        if lowered.inlined is not None:
            yield lowered.inlined
    yield from story.operations
    yield from story.attempts
    yield from {id(ran.launch.kernel): ran.launch.kernel for ran in story.ran}.values()
    yield from story.checked
    yield from story.blamed
    yield from story.remarks
    yield from story.symbols
