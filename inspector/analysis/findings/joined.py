"""Layers of what a `cat` joins: which convolutions read copies also in a model that is channels-last, and what is saved
by applying a layer to each part.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from inspect_compile.facts import Node
from inspect_compile.graph import Id
from inspect_compile.knowledge.frontend.operator_names import operator_name

JOINS: Final = "cat"
_PLANE: Final = 4
_INPUT: Final = "placeholder"
_OUTPUT: Final = "output"
_CONVOLUTION: Final = "convolution"
_PRODUCTS: Final = {"aten.mm.": 0, "aten.addmm.": 1}
_VIEWS: Final = ("aten.view.", "aten.reshape.", "aten._unsafe_view.")
_BATCH: Final = 0
_CHANNELS: Final = 1
"""The axis along which a layer can be applied to each part."""
_DATA: Final = 0
"""Position of what a convolution goes over among its inputs."""


class Joined(NamedTuple):
    """A `cat` in front of a convolution."""

    is_kept: bool
    """True if the convolution reads a copy of it also in a model that is channels-last."""
    less: int
    """Bytes by which a convolution of each part, whose results are added, saves less than that copy."""


class Joins:
    """The `cat`s of a graph, nested graphs included."""

    def __init__(self, nodes: Mapping[Id, Node]) -> None:
        self._nodes = nodes
        self._first: dict[Id, str] = {}
        """A part → the first `cat` that joins it, which decides where in memory it is written."""
        self._layers: dict[Id, list[Node]] = {}
        """The convolutions and matrix products that go over a value."""
        self._readers: dict[Id, list[Node]] = {}
        """One of these → what reads its result."""
        for node in nodes.values():
            for name in node.inputs:
                if (readers := self._readers.get(Id(node.graph, name))) is not None:
                    readers.append(node)
            if is_call_of(node, JOINS):
                for part in node.inputs:
                    self._first.setdefault(Id(node.graph, part), node.name)
            elif (place := _data(node)) is not None:
                self._readers[Id.of(node)] = []
                for name in node.inputs[place : place + 1]:
                    self._layers.setdefault(Id(node.graph, self._viewed(node.graph, name)), []).append(node)

    def before(self, convolution: Node) -> Joined | None:
        """The `cat` whose result it goes over; None if it goes over something else.

        Inductor joins in the order of a part that is stored channels-last already, such as an input of the graph or the
        result of a convolution. Without one, a part that an earlier `cat` has written to memory leaves this one in the
        usual order.
        """
        joined = self._nodes.get(Id(convolution.graph, convolution.inputs[_DATA])) if convolution.inputs else None
        if joined is None or not is_call_of(joined, JOINS):
            return None
        parts = self._parts(joined)
        if not _is_along(joined, parts, _CHANNELS):
            return None
        is_stored = any(part is not None and _is_stored(part) for part in parts)
        written = [part for part in parts if part is not None and self._first[Id.of(part)] != joined.name]
        return Joined(bool(written) and not is_stored, self._more(joined, convolution) - sum(map(_bytes, written)))

    def added(self, joined: Node) -> int:
        """Bytes that are moved more if the layers that go over a `cat` are applied to each part, and the results are
        added.
        """
        parts, last = self._parts(joined), len(_sizes(joined)) - 1
        return sum(
            self._more(joined, one)
            for one in self._layers.get(Id.of(joined), ())
            if _is_along(joined, parts, _CHANNELS if is_call_of(one, _CONVOLUTION) else last)
        )

    def is_of_calls(self, joined: Node) -> bool:
        """True if it is along the first axis, over which a layer does the same, as of two batches."""
        return _is_along(joined, self._parts(joined), _BATCH)

    def is_of_inputs(self, joined: Node) -> bool:
        """True if all of its parts are inputs of the graph."""
        return all(part is not None and part.op == _INPUT for part in self._parts(joined))

    def _more(self, joined: Node, layer: Node) -> int:
        """Each further result is written, and read to be added: by what reads the result, or by a kernel of its own if
        nothing is computed of it.
        """
        readers = self._readers[Id.of(layer)]
        is_alone = all(reader.op == _OUTPUT or _data(reader) is not None for reader in readers)
        return 2 * (len(joined.inputs) - 1 + is_alone) * _bytes(layer)

    def _viewed(self, graph: str, name: str) -> str:
        """What a view in front of a matrix product, which has two axes, is of."""
        node = self._nodes.get(Id(graph, name))
        is_view = node is not None and node.target.startswith(_VIEWS)
        return node.inputs[0] if node is not None and is_view and node.inputs else name

    def _parts(self, joined: Node) -> list[Node | None]:
        return [self._nodes.get(Id(joined.graph, name)) for name in joined.inputs]


def _data(layer: Node) -> int | None:
    """Position of what a layer goes over among its inputs; None if the node is none."""
    if is_call_of(layer, _CONVOLUTION):
        return _DATA
    return next((place for name, place in _PRODUCTS.items() if layer.target.startswith(name)), None)


def _is_along(joined: Node, parts: list[Node | None], axis: int) -> bool:
    """True if each part has some of this axis."""
    whole = _sizes(joined)
    return all(
        part is not None and len(sizes := _sizes(part)) == len(whole) > axis and sizes[axis] != whole[axis]
        for part in parts
    )


def _sizes(node: Node) -> tuple[int | str, ...]:
    return node.values[0].size if node.values else ()


def is_call_of(node: Node, operator: str) -> bool:
    """True if the node was made of a call of this operator."""
    return operator_name(node.original_aten or node.target) == operator


def _is_stored(part: Node) -> bool:
    is_plane = any(len(value.size) == _PLANE for value in part.values)
    return is_plane and (part.op == _INPUT or is_call_of(part, _CONVOLUTION))


def _bytes(node: Node) -> int:
    return sum(value.bytes or 0 for value in node.values)
