"""What a call of a graph leaves behind beside its results: the inputs that it changed, and who shares whose memory."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.elements import is_equal
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.nodes import changed_values, inputs_of
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.graphs.shared import memory_of
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.judges import compared_graphs, compared_with_eager
from inspect_compile.lowering.intervention.numerics.results import Left, Place, Results

_RESULT: Final = "result "
_PARTLY: Final = "the graph changes it in parts, which have no exact value"


def changed(args: Sequence[Any], *afterwards: Sequence[Any]) -> list[int]:
    """Positions of the inputs that have other elements afterwards, in one of several runs on `args`."""
    found = []
    for at, before in enumerate(args):
        after = [run[at] for run in afterwards if at < len(run)]
        if isinstance(before, torch.Tensor) and any(_is_changed(before, one) for one in after):
            found.append(at)
    return found


def _is_changed(before: torch.Tensor, after: Any) -> bool:
    if not isinstance(after, torch.Tensor) or before.layout is not torch.strided:
        return False
    if memory_of(before) == memory_of(after) and memory_of(before):  # it was not copied, as nothing changes it
        return False
    return before.shape != after.shape or not is_equal(before, after)


class InputsCheck:
    """Compares inputs that a graph changes in place with those of the same graph at an earlier level."""

    def __init__(self, before: Results, exact: Exacts, *, always_exact: bool) -> None:
        """`before` is what the graph left behind at the earlier level, and `exact` the same in fp64. For `always_exact`
        see `compared_graphs`.
        """
        self.names = inputs_of(before.module)
        """The names of its inputs, in order."""
        self._before, self._exact, self._always_exact = before, exact, always_exact

    def writer(self, at: int) -> Node | None:
        """The node that leaves its value in this input; None if none does, or in a part of it only."""
        for node in reversed(self._before.module.graph.nodes):
            for one in changed_values(node) if node.op == "call_function" else ():
                if not isinstance(one, Node) or one.op != "placeholder" or self._is_shared(at):
                    return None
                if one.name == self.names[at]:
                    return node if node.target is torch.ops.aten.copy_.default else None
        return None

    def compared(self, row: Checked, at: int, value: Any) -> Checked:
        """`row` with how near `value` is to what the graph leaves in this input."""
        eager, writer = self._before.inputs[at], self.writer(at)
        if writer is not None:
            return compared_graphs(row, value, eager, writer.name, self._exact, always_exact=self._always_exact)
        is_changed = bool(changed([self._before.args[at]], [eager]))
        return compared_with_eager(row, value, eager, _PARTLY if is_changed else "")

    def _is_shared(self, at: int) -> bool:
        """True if another input has the same memory."""
        own = memory_of(self._before.args[at])
        others = (one for other, one in enumerate(self._before.args) if other != at and isinstance(one, torch.Tensor))
        return any(memory_of(one) == own for one in others)


class OwnResults:
    """What one call of the compiled code in which nothing is forced left behind. It runs when it is first asked for."""

    def __init__(self, run: Callable[[], Left] | None) -> None:
        """None for `run`: the code cannot run again."""
        self._run = run

    @functools.cached_property
    def _left(self) -> Left:
        return Left((), ()) if self._run is None else self._run()

    def mended(self, row: Checked, place: Place | None, compared: Callable[[Any], Checked]) -> Checked:
        """`row`, which says of a level what `compared` says of values; mended if it is wrong, and what the compiled
        code leaves at this place is not: a later pass took the error away, or a kernel that rounds less often than its
        nodes.
        """
        if verdict(row) != WRONG or place is None or (value := place.of(self._left)) is None:
            return row
        return with_fields(row, is_mended=verdict(compared(value)) not in (WRONG, NOT_COMPARABLE))


Pair = tuple[str, str]
"""A result, and an input or an earlier result in whose memory it is."""


def sharing(left: Left, names: Sequence[str], visible: Sequence[int]) -> set[Pair]:
    """The pairs of results, at the positions `visible`, and inputs, which are called `names`, that share memory."""
    known: dict[int, list[str]] = {}
    for name, one in zip(names, left.inputs, strict=False):
        if memory := _own_memory(one):
            known.setdefault(memory, []).append(name)
    found: set[Pair] = set()
    for at in visible:
        if memory := _own_memory(left.results[at] if at < len(left.results) else None):
            found.update((f"{_RESULT}{at}", other) for other in known.get(memory, ()))
            known.setdefault(memory, []).append(f"{_RESULT}{at}")
    return found


def _own_memory(value: Any) -> int:
    """The address of memory that has elements; 0 for anything else."""
    return memory_of(value) if isinstance(value, torch.Tensor) and value.numel() else 0


def alone(module: GraphModule, args: Sequence[Any], state: RandomState) -> Left:
    """What a graph leaves behind that runs by itself: values that graphs share tell nothing of who shares memory."""
    inputs = copies(args)
    state.restore()
    return Left(list(reference(module, inputs).results), inputs)


def with_sharing(row: Checked, pairs: set[Pair], level: str) -> Checked:
    """`row`, wrong as `level` made the result share memory that it should not share, if `pairs` has some of it."""
    others = sorted(other for one, other in pairs if one == row.buffer)
    if not others:
        return row
    return with_fields(row, level=level, mismatch=f"in the memory of {', '.join(others)}, not in its own")


def sharers(buffer: str, pairs: set[Pair]) -> list[Place]:
    """Where the result called `buffer` is, and the other results that share its memory in one of `pairs`."""
    names = [buffer, *(other for one, other in sorted(pairs) if one == buffer)]
    return [Place(int(name.removeprefix(_RESULT))) for name in names if name.startswith(_RESULT)]


def strides_of(value: Any) -> tuple[int, ...] | None:
    """The strides of a tensor, those of dimensions with one element as 0; None if they are not all numbers, or no two
    elements could be in another order.
    """
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    if not all(type(one) is int for one in (*value.shape, *value.stride())) or value.numel() < 2:
        return None
    return tuple(stride if size > 1 else 0 for size, stride in zip(value.shape, value.stride(), strict=True))


def with_strides(row: Checked, value: Any, wanted: tuple[int, ...] | None) -> Checked:
    """`row`, with the strides of `value` if they are not those `wanted`; None for any.

    They make no result wrong: a meta function or a decomposition of torch often gives a result other strides than
    eager's operator, and programs that depend on them are few.
    """
    found = strides_of(value)
    if found is None or wanted is None or found == wanted or len(found) != len(wanted):
        return row
    return with_fields(row, other_strides=f"strides {found}, not {wanted}")
