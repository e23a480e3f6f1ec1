"""What a result of a launch is compared with: the reference, or what the same launch wrote before."""

from typing import Any, Final

import torch

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.errors import differing_bits, is_equal, measured, shifted
from inspect_compile.lowering.intervention.numerics.forced import value_in, with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts, Noise
from inspect_compile.lowering.intervention.numerics.graphs.peeled import of_the_graph
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.values import Plan, in_form_of_node

NO_TENSOR: Final = "it is no tensor"


class ByReference:
    """Compares with eager's value, and with the exact one."""

    def __init__(self, plan: Plan, plain: Reference) -> None:
        self._plan = plan
        self._plain = plain
        self._noise: dict[int, Noise] = {}
        self._exacts: dict[frozenset[str], Exacts] = {}
        """What the results of one launch have in common: sources → values in fp64."""

    def next_launch(self) -> None:
        """See `Judge`."""
        self._exacts.clear()

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        if not node:
            made = self._plan.makers.get(row.buffer, "")
            return with_fields(row, reason=f"a step of the lowering of {made}" if made else "no FX node has its value")
        row = with_fields(row, node=of_the_graph(node))
        eager, is_whole = value_in(self._plan, self._plain, row.buffer, node)
        if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
            return with_fields(row, reason=NO_TENSOR)
        value = in_form_of_node(value, eager)
        row = described(row, value)
        if node in self._plain.unknown:
            return with_fields(row, reason=self._plain.unknown[node])
        if value.shape != eager.shape or value.dtype != eager.dtype:
            kind = f"{str(eager.dtype).removeprefix('torch.')}{list(eager.shape)}"
            return with_fields(row, reason=f"{node} is {kind}, which is not what the buffer is")
        if is_whole:
            return compared(row, value, eager, node, self._from(sources))
        if not is_equal(value, eager):
            row = with_fields(row, no_exact=f"{node} changes a part of it")
            wide = eager.double() if eager.is_floating_point() else eager
            return with_fields(row, **measured(value, eager, wide, lambda seed: wide))
        return with_fields(row, is_equal=True)

    def exact(self, node: str, sources: frozenset[str]) -> Any:
        """The value of a node in fp64, from those of `sources` in their dtypes."""
        return self._from(sources - {node}).of().value(node)

    def _from(self, sources: frozenset[str]) -> Exacts:
        if sources not in self._exacts:
            self._exacts[sources] = Exacts(self._plan.module, self._plain, sources, self._noise)
        return self._exacts[sources]


def described(row: Checked, value: torch.Tensor) -> Checked:
    """`row` with what kind of tensor was checked."""
    dtype = str(value.dtype).removeprefix("torch.")
    return with_fields(row, dtype=dtype, size=tuple(value.shape), elements=value.numel())


def compared(row: Checked, value: torch.Tensor, eager: torch.Tensor, node: str, exact: Exacts) -> Checked:
    """`row` with how near `value` and `eager`, which have one shape and dtype, are to the exact value of `node`.

    How much noise moves it is measured only where that decides: computing it takes as long as the exact value.
    """
    if is_equal(value, eager):
        return with_fields(row, is_equal=True)
    if exact.of().is_generator_state(node):
        return with_fields(row, reason="it is the state of a generator of random numbers")
    ideal = exact.of().value(node)
    if why := exact.of().taken.get(node):
        row = with_fields(row, no_exact=why)
    row = with_fields(row, **measured(value, eager, ideal, lambda seed: exact.of(seed).value(node)))
    if row.rmse is None or row.no_exact or verdict(row) not in (WRONG, WORSE):
        return row
    return with_fields(row, **shifted(value, eager, ideal, exact.of(0).value(node)))


def compared_graphs(row: Checked, value: Any, eager: Any, node: str, exact: Exacts, *, other_kind: str) -> Checked:
    """`row` with how near `value`, a result of a graph, is to that of another one, `eager`, which is its `node`.

    `other_kind` says why they are not comparable if they have another shape or dtype.
    """
    if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
        return with_fields(row, reason=NO_TENSOR)
    if value.shape != eager.shape or value.dtype != eager.dtype:
        return with_fields(row, reason=other_kind)
    return compared(described(row, value), value, eager, node, exact)


class Kept:
    """Keeps a copy of each result, beside what another judge says of it."""

    def __init__(self, other: ByReference) -> None:
        self._other = other
        self.values: dict[tuple[int, str], torch.Tensor] = {}
        """Position of the launch and buffer → what it wrote."""

    def next_launch(self) -> None:
        """See `Judge`."""
        self._other.next_launch()

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        if isinstance(value, torch.Tensor):
            self.values[row.index, row.buffer] = value.clone()
        return self._other.judged(row, value, node, sources)


class ByEarlier:
    """Compares with what the same launch wrote in an earlier forced call: on the same inputs, to the bit."""

    def __init__(self, earlier: dict[tuple[int, str], torch.Tensor]) -> None:
        self._earlier = earlier

    def next_launch(self) -> None:
        """See `Judge`."""

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        earlier = self._earlier.get((row.index, row.buffer))
        if earlier is None or not isinstance(value, torch.Tensor) or earlier.shape != value.shape:
            return row
        return with_fields(row, unstable=differing_bits(earlier, value))
