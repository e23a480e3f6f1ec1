"""What a result of a launch is compared with: the reference, or what the same launch wrote before."""

from collections.abc import Callable, Collection
from typing import Any, Final

import torch
from torch.fx import GraphModule

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import (
    EXACT,
    GENERATOR_STATE,
    NOT_COMPARABLE,
    NOT_ONCE,
    WORSE,
    WRONG,
    beyond,
    is_beyond_all,
    is_near,
    may_be_beyond,
    tolerance,
    verdict,
)
from inspect_compile.lowering.intervention.numerics.elements import differing_bits, is_equal
from inspect_compile.lowering.intervention.numerics.errors import (
    apart,
    measured,
    not_rounded_once,
    shifted,
    steady,
    typical,
    unexplained,
)
from inspect_compile.lowering.intervention.numerics.forced import value_in, with_fields
from inspect_compile.lowering.intervention.numerics.graphs.exact import Exacts
from inspect_compile.lowering.intervention.numerics.graphs.in_fp64 import widened
from inspect_compile.lowering.intervention.numerics.graphs.noise import Noise
from inspect_compile.lowering.intervention.numerics.graphs.offload import give_back
from inspect_compile.lowering.intervention.numerics.graphs.peeled import of_the_graph
from inspect_compile.lowering.intervention.numerics.graphs.reference import Reference
from inspect_compile.lowering.intervention.numerics.values import Plan, in_form_of_node

NO_TENSOR: Final = "it is not a tensor"
_MUCH: Final = 1 << 24
"""Bytes of results in fp64 after which freed memory is given back: that takes milliseconds, and a launch of few values
less.
"""
_WIDE: Final = 8
"""Bytes of an element in fp64."""
_SINGLE: Final = 4
"""The same in float32."""
_FEWEST: Final = 64
"""Elements of which shares are told."""
_SEEDS: Final = 4
"""How many runs with noise show what rounding to float32 makes."""
NUMBERS: Final = (bool, int, float)
_OTHER_NUMBER: Final = "it is another Python number, and how far rounding moves it is not known"
_TIES: Final = "whole numbers, or truth values, that depend on ties of values which are rounded to half types"
_SIZES: Final = "it has another size, and sizes depend on values"


class ByReference:
    """Compares with eager's value, and with the exact one."""

    def __init__(
        self, plan: Plan, plain: Reference, rounds_only_stored: Callable[[Checked], bool], *, gives_back: bool = False
    ) -> None:
        """`rounds_only_stored` tells of a launch whether it rounds to half types only what it stores. `gives_back`:
        what was freed is given back to the system before each launch; else where that is much.
        """
        self._rounds_only_stored = rounds_only_stored
        self._gives_back = gives_back
        self._plans = {each.graph: each for each in plan.all_graphs()}
        self._plain = plain
        self._noise: dict[int, Noise] = {}
        self._exacts: dict[tuple[str, int, frozenset[str]], Exacts] = {}
        """What the results of one launch have in common: graph, turn, sources → values in fp64."""
        self._wanted: Collection[str] | None = None
        """The nodes of these results."""
        self._freed = 0
        """Bytes of results in fp64 since memory was given back."""

    def next_launch(self, nodes: Collection[str]) -> None:
        """See `Judge`."""
        self._exacts.clear()
        self._wanted = nodes
        if self._gives_back or self._freed > _MUCH:
            self._freed = 0
            give_back()

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        plan, plain = self._plans[row.graph], self._values(row)
        made = plan.makers.get(row.buffer, "")
        if not node:
            return with_fields(row, reason=f"a step of the lowering of {made}" if made else "no FX node has its value")
        is_step = node in plan.steps
        row = with_fields(row, node=made if is_step else of_the_graph(node), is_step=is_step)
        eager, is_whole = value_in(plan, plain, row.buffer, node)
        if node in plain.unknown:
            return with_fields(row, reason=plain.unknown[node])
        if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
            return with_fields(row, reason=NO_TENSOR)
        value = in_form_of_node(value, eager)
        row = described(row, value)
        if _kind(value) != _kind(eager):
            return with_fields(row, reason=f"{node} is {_kind(eager)}, which is not what the buffer is")
        if is_whole:
            exact = self._from(row, sources)
            row = compared(row, value, eager, node, exact)
            if not self._is_given_rounded_steps(row, sources):
                row = self._held_to_one_rounding(row, value, node, exact)
            exact.passed(node)
            self._freed += value.numel() * _WIDE if exact.is_known else 0
            return row
        if not is_equal(value, eager):
            # The same Triton kernel with the same arguments: nothing is more exact than what it gave.
            if plain.values.get(node) is not None:
                row = with_fields(row, no_exact=f"{node} changes a part of it")
            wide = eager.double() if eager.is_floating_point() else eager
            return beyond_all(with_fields(row, **measured(value, eager, wide, lambda seed: wide)))
        return with_fields(row, is_equal=True)

    def _is_given_rounded_steps(self, row: Checked, sources: frozenset[str]) -> bool:
        """True if the launch is given a step of the lowering that is rounded to a half type. The exact value is that of
        nodes, and goes past it.
        """
        plain = self._values(row)
        steps = (plain.values.get(one) for one in sources if one in self._plans[row.graph].steps)
        return any(isinstance(step, torch.Tensor) and _is_half(step) for step in steps)

    def _held_to_one_rounding(self, row: Checked, value: torch.Tensor, node: str, exact: Exacts) -> Checked:
        """`row`, wrong if a kernel that rounds once gives something else than the exact value, rounded once: for an
        error in float32 inside of it, which is small beside what rounding to a half type makes.
        """
        is_held = _is_half(value) and value.numel() >= _FEWEST
        if not is_held or row.unforced or row.is_step or row.no_exact or verdict(row) in (WRONG, NOT_COMPARABLE, EXACT):
            return row
        ideal = exact.of().value(node)
        if not_rounded_once(value, ideal) <= NOT_ONCE or not self._rounds_only_stored(row):
            return row
        moved = [(exact.in_single(seed).value(node) - ideal).abs_() for seed in range(_SEEDS)]
        share = not_rounded_once(value, ideal, torch.stack(moved).amax(0))
        return with_fields(row, not_once=share) if share > NOT_ONCE else row

    def exact(self, row: Checked, node: str, sources: frozenset[str]) -> Any:
        """The value in fp64 of a node of the graph that `row` is of, from those of `sources` in their dtypes."""
        if self._wanted is not None:
            self._exacts.clear()
            self._wanted = None
        return self._from(row, sources - {node}).of().value(node)

    def module(self, row: Checked) -> GraphModule:
        """The graph that `row` is of."""
        return self._plans[row.graph].module

    def _values(self, row: Checked) -> Reference:
        return self._plain.nested[row.graph, row.turn] if row.turn else self._plain

    def _from(self, row: Checked, sources: frozenset[str]) -> Exacts:
        key = row.graph, row.turn, sources
        if key not in self._exacts:
            module, plain = self._plans[row.graph].module, self._values(row)
            wanted = None if self._wanted is None else {name for name in self._wanted if name in plain.values}
            self._exacts[key] = Exacts(module, lambda: plain, sources, self._noise, wanted)
        return self._exacts[key]


def _is_half(value: torch.Tensor) -> bool:
    return value.is_floating_point() and value.dtype.itemsize < _SINGLE


def described(row: Checked, value: torch.Tensor) -> Checked:
    """`row` with what kind of tensor was checked."""
    return with_fields(row, dtype=_dtype(value), size=tuple(value.shape), elements=value.numel())


def compared(row: Checked, value: torch.Tensor, eager: torch.Tensor, node: str, exact: Exacts) -> Checked:
    """`row` with how near `value` and `eager`, which have one shape and dtype, are to the exact value of `node`.

    How much noise moves it is measured only where that decides: computing it takes as long as the exact value.
    """
    if is_equal(value, eager):
        return with_fields(row, is_equal=True)
    if exact.of().is_generator_state(node):
        return with_fields(row, reason=GENERATOR_STATE)
    ideal = exact.of().value(node)
    if why := exact.of().taken.get(node):
        row = with_fields(row, no_exact=why)

    def noisy(seed: int) -> torch.Tensor:
        moved: torch.Tensor = exact.of(seed).value(node)
        if seed:  # few results need it: memory for many is dearer than computing it again
            exact.forget(seed)
        return moved

    described_only = row
    row = by_exact(row, value, eager, ideal, noisy)
    if row.untied and exact.of().rounds_to_half(node):
        # Of one that noise moves, any number may be a tie; which numbers are possible, noise seldom shows completely.
        sure = steady(value, eager, ideal, noisy)
        row = with_fields(row, **sure) if sure else with_fields(described_only, reason=_TIES)
    if verdict(row) == WORSE and exact.of().rounds_to_half(node):
        row = with_fields(row, **typical(value, eager, ideal, noisy))
    return row


def by_exact(
    row: Checked,
    value: torch.Tensor,
    eager: torch.Tensor,
    ideal: torch.Tensor,
    noisy: Callable[[int], torch.Tensor],
    *,
    has_seeds: bool = True,
) -> Checked:
    """`row` with how near `value` and `eager` are to `ideal`, the exact value, and whether an element is wrong. `noisy`
    gives that value with noise of a seed; the same for each one without `has_seeds`.
    """
    row = with_fields(row, **measured(value, eager, ideal, noisy))
    if not _has_errors(row):
        return row
    if has_seeds and may_be_beyond(row):
        rule = {"beyond": beyond(row.dtype), "tolerance": tolerance(row.dtype), "scale": row.exact_rms or 0.0}
        row = with_fields(row, **unexplained(value, eager, ideal, noisy, **rule))
    if verdict(row) in (WRONG, WORSE) or is_beyond_all(row):
        row = with_fields(row, **shifted(value, eager, ideal, noisy(0)))
    # What has noise once may have moved none of the elements that lie on an edge: any that it moved counts.
    return row if has_seeds else beyond_all(row)


def beyond_all(row: Checked) -> Checked:
    """`row`, wrong if its largest error is more than rounding makes of any element: of one that is not looked at
    element by element.
    """
    return with_fields(row, unexplained=1) if _has_errors(row) and is_beyond_all(row) else row


def _has_errors(row: Checked) -> bool:
    """True if errors against an exact value were measured."""
    return row.rmse is not None and not row.no_exact


def near(row: Checked, value: torch.Tensor, eager: torch.Tensor) -> Checked | None:
    """`row` with how far `value` is from `eager`, if no exact value could make that wrong; None if one could."""
    found = apart(value, eager)
    if found is None or not is_near(row.dtype, found[0], found[1]):
        return None
    return with_fields(row, apart=found[0], **found[2])


def compared_graphs(
    row: Checked, value: Any, eager: Any, node: str, exact: Exacts, *, always_exact: bool = False
) -> Checked:
    """`row` with how near `value`, a result of a graph, is to that of another one, `eager`, which is its `node`. Exact
    values are computed where they can matter, or `always_exact`.
    """
    if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
        return of_numbers(row, value, eager)
    row = described(row, value)
    if other := of_another_kind(row, value, eager, exact.has_sizes_of_values):
        return other
    if not always_exact and not is_equal(value, eager) and (found := near(row, value, eager)):
        return found
    return compared(row, value, eager, node, exact)


def of_numbers(row: Checked, value: Any, eager: Any) -> Checked:
    """`row` of what is no tensor: a graph can return Python numbers, such as sizes and what `item` gives."""
    if not isinstance(value, NUMBERS) or not isinstance(eager, NUMBERS):
        return with_fields(row, reason=NO_TENSOR)
    is_same = value == eager or (value != value and eager != eager)
    return with_fields(row, elements=1, **({"is_equal": True} if is_same else {"reason": _OTHER_NUMBER}))


def compared_with_eager(row: Checked, value: Any, eager: Any, why: str) -> Checked:
    """`row` with how far `value` is from `eager`: what is exact is not known, and `why`; empty if `eager` is exact."""
    if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
        return with_fields(row, reason=NO_TENSOR)
    row = described(row, value)
    if other := of_another_kind(row, value, eager, lambda: False):
        return other
    if is_equal(value, eager):
        return with_fields(row, is_equal=True)
    wide = widened(eager)
    return by_exact(with_fields(row, no_exact=why), value, eager, wide, lambda _: wide, has_seeds=False)


def of_another_kind(
    row: Checked, value: torch.Tensor, eager: torch.Tensor, has_sizes_of_values: Callable[[], bool]
) -> Checked | None:
    """`row` with what they are, if they have another shape or dtype; None if not.

    A size that comes from values, as of `nonzero`, may be another one by rounding.
    """
    found, wanted = _kind(value), _kind(eager)
    if found == wanted:
        return None
    may_be_rounding = value.dtype == eager.dtype and value.dim() == eager.dim() and has_sizes_of_values()
    return with_fields(row, **({"reason": _SIZES} if may_be_rounding else {"mismatch": f"{found}, not {wanted}"}))


def _kind(value: torch.Tensor) -> str:
    return f"{_dtype(value)}[{', '.join(map(str, value.shape))}]"


def _dtype(value: torch.Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


class ResultKeeper:
    """Keeps a copy of each result, beside what another judge says of it."""

    def __init__(self, other: ByReference) -> None:
        self._other = other
        self.values: dict[tuple[int, str], torch.Tensor] = {}
        """Position of the launch and buffer → what it wrote."""

    def next_launch(self, nodes: Collection[str]) -> None:
        """See `Judge`."""
        self._other.next_launch(nodes)

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        if isinstance(value, torch.Tensor):
            self.values[row.index, row.buffer] = value.clone()
        return self._other.judged(row, value, node, sources)


class ByEarlier:
    """Compares with what the same launch wrote in an earlier forced call: on the same inputs, to the bit."""

    def __init__(self, earlier: dict[tuple[int, str], torch.Tensor]) -> None:
        self._earlier = earlier

    def next_launch(self, nodes: Collection[str]) -> None:
        """See `Judge`."""

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        earlier = self._earlier.get((row.index, row.buffer))
        if earlier is None or not isinstance(value, torch.Tensor) or earlier.shape != value.shape:
            return row
        return with_fields(row, unstable=differing_bits(earlier, value))
