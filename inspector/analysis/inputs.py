"""Which of Dynamo's inputs an input of a later graph is."""

from collections.abc import Sequence

from inspect_compile.facts import Node


def matched_inputs(ours: Sequence[Node], theirs: Sequence[Node]) -> dict[str, Node]:
    """Placeholder of a later graph → that of Dynamo's graph; nothing where that is not sure.

    AOTAutograd takes Dynamo's inputs in their order and notes no names. That the order still holds is believed only
    where the number of inputs is the same and each one's type and shape.
    """
    if len(ours) != len(theirs) or not all(map(_is_like, ours, theirs)):
        return {}
    return {one.name: other for one, other in zip(ours, theirs, strict=True)}


def _is_like(one: Node, other: Node) -> bool:
    return [(value.dtype, value.size) for value in one.values] == [(value.dtype, value.size) for value in other.values]
