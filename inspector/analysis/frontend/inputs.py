"""Matches the inputs of a later graph with Dynamo's inputs."""

from collections.abc import Sequence

from inspect_compile.facts import Node


def matched_inputs(ours: Sequence[Node], theirs: Sequence[Node]) -> dict[str, Node]:
    """Placeholder of a later graph → placeholder of Dynamo's graph; empty if that is not certain.

    AOTAutograd takes Dynamo's inputs in order and records no names. The order is trusted only if both have the same
    number of inputs and each agrees in type and shape.
    """
    if len(ours) != len(theirs) or not all(map(_is_like, ours, theirs)):
        return {}
    return {one.name: other for one, other in zip(ours, theirs, strict=True)}


def _is_like(one: Node, other: Node) -> bool:
    return [(value.dtype, value.size) for value in one.values] == [(value.dtype, value.size) for value in other.values]
