"""What a result of a launch is compared with: the reference, or what the same launch wrote before."""

from typing import Any

import torch

from inspect_compile.facts import Checked
from inspect_compile.lowering.intervention.numerics.errors import differing_bits, is_equal, measured
from inspect_compile.lowering.intervention.numerics.forced import value_in, with_fields
from inspect_compile.lowering.intervention.numerics.reference import Exact, Noise, Reference
from inspect_compile.lowering.intervention.numerics.values import Plan


class ByReference:
    """Compares with eager's value, and with the exact one."""

    def __init__(self, plan: Plan, plain: Reference) -> None:
        self._plan = plan
        self._plain = plain
        self._noise: dict[int, Noise] = {}
        self._exacts: dict[tuple[frozenset[str], int | None], Exact] = {}
        """What the results of one launch have in common: sources and seed → values in fp64."""

    def next_launch(self) -> None:
        """See `Judge`."""
        self._exacts.clear()

    def judged(self, row: Checked, value: Any, node: str, sources: frozenset[str]) -> Checked:
        """See `Judge`."""
        if not node:
            made = self._plan.makers.get(row.buffer, "")
            return with_fields(row, reason=f"a step of the lowering of {made}" if made else "no FX node has its value")
        row = with_fields(row, node=node)
        eager, is_whole = value_in(self._plan, self._plain, row.buffer, node)
        if not isinstance(value, torch.Tensor) or not isinstance(eager, torch.Tensor):
            return with_fields(row, reason="it is no tensor")
        dtype = str(value.dtype).removeprefix("torch.")
        row = with_fields(row, dtype=dtype, size=tuple(value.shape), elements=value.numel())
        if node in self._plain.unknown:
            return with_fields(row, reason=self._plain.unknown[node])
        if value.shape != eager.shape or value.dtype != eager.dtype:
            kind = f"{str(eager.dtype).removeprefix('torch.')}{list(eager.shape)}"
            return with_fields(row, reason=f"{node} is {kind}, which is not what the buffer is")
        if is_equal(value, eager):
            return with_fields(row, is_equal=True)
        if not is_whole:
            row = with_fields(row, no_exact=f"{node} changes a part of it")
            wide = eager.double() if eager.is_floating_point() else eager
            return with_fields(row, **measured(value, eager, wide, lambda seed: wide))
        exact = self._exact(sources)
        ideal = exact.value(node)
        if why := exact.taken.get(node):
            row = with_fields(row, no_exact=why)
        return with_fields(row, **measured(value, eager, ideal, lambda seed: self._exact(sources, seed).value(node)))

    def _exact(self, sources: frozenset[str], seed: int | None = None) -> Exact:
        """The values in fp64 that come from those of `sources`, with noise if there is a seed."""
        if seed is not None and seed not in self._noise:
            self._noise[seed] = Noise(seed)
        key = sources, seed
        if key not in self._exacts:
            noise = None if seed is None else self._noise[seed]
            self._exacts[key] = Exact(self._plan.module, self._plain, sources, noise)
        return self._exacts[key]


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
