"""Dynamo's graph, as it was captured and after each of its edits, run on the inputs of one call."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.levels import AOT
from inspect_compile.lowering.intervention.numerics.errors import exactly_apart
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.graphs.nodes import has_collectives
from inspect_compile.lowering.intervention.numerics.graphs.offload import give_back
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies
from inspect_compile.lowering.intervention.numerics.left_behind.edited import by_edit, constants_of, first_apart
from inspect_compile.lowering.intervention.numerics.left_behind.left import Pair, sharers, sharing, with_sharing
from inspect_compile.lowering.intervention.numerics.levels import Level
from inspect_compile.lowering.intervention.numerics.results import Left, Place
from inspect_compile.lowering.intervention.numerics.upstream.dynamo_run import Gradients, InputMapping, Ran, places, run
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin
from inspect_compile.lowering.intervention.numerics.upstream.shadow import BOTH, EXACT, NOISY, Shadowed

_MORE_NOISE: Final = 32
"""Maximum number of runs of Dynamo's graph with other noise, after which no further result asks for any."""
Of = Callable[[Ran, InputMapping, Any], Any]
"""Finds what is at a place in a run."""


class DynamoEdits:
    """Runs each of these graphs once, and says which edit made a result another function."""

    def __init__(self, origin: Origin, state: RandomState, *, always_exact: bool) -> None:
        """For `always_exact` see `judges.compared_graphs`."""
        self._origin = origin
        self._state = state
        # Ranks must take part in collectives equally often, whatever their values are.
        self.is_collective = origin.traced is not None and has_collectives(origin.traced)
        self.at_once = always_exact or self.is_collective
        """Exact values are computed before it is known whether they matter."""
        self._more_noise = _MORE_NOISE
        """How often the graph may still run with other noise before results are judged by the first seed alone."""
        self._runs: dict[tuple[int, bool, tuple[int | None, ...]], tuple[Ran, InputMapping]] = {}

    @property
    def has_seeds(self) -> bool:
        """The graph can still run with other noise."""
        return self._more_noise > 0

    @property
    def edits(self) -> Sequence[Level]:
        """The graph after each of its edits; none if this rank alone, whose results are wrong, cannot run them."""
        return () if self.is_collective else self._origin.dynamo[1:]

    def plain(self, args: Sequence[Any], gradients: Gradients | None) -> tuple[Ran, InputMapping]:
        """The graph as it was captured, with values in fp64 only if all of them are computed at once."""
        return self.ran(0, args, gradients, BOTH if self.at_once else ())

    def exact(self, args: Sequence[Any], gradients: Gradients | None) -> tuple[Ran, InputMapping]:
        """The same with values in fp64."""
        return self.ran(0, args, gradients, BOTH if self.at_once else EXACT)

    def noisy(self, seed: int, args: Sequence[Any], gradients: Gradients | None) -> tuple[Ran, InputMapping]:
        """The graph as it was captured, with noise. Noise seldom decides, and a run of its own takes half the memory
        that both at once take; few results need other seeds than the first, and each of them once.
        """
        if not seed:
            return self.ran(0, args, gradients, BOTH if self.at_once else NOISY)
        self._more_noise -= 1
        return self._run(0, args, gradients, (seed,))

    def ran(
        self, at: int, args: Sequence[Any], gradients: Gradients | None, seeds: tuple[int | None, ...]
    ) -> tuple[Ran, InputMapping]:
        """Dynamo's graph after so many edits, run once; with its values in fp64 for these `seeds` of noise."""
        key = at, gradients is not None, seeds
        if key not in self._runs:
            self._runs[key] = self._run(at, args, gradients, seeds)
        return self._runs[key]

    def _run(
        self, at: int, args: Sequence[Any], gradients: Gradients | None, seeds: tuple[int | None, ...]
    ) -> tuple[Ran, InputMapping]:
        assert self._origin.traced is not None
        module = self._origin.dynamo[at].module
        where = places(self._origin.traced, module)
        self._state.restore()
        ran = run(module, where, copies(args), self._origin.surroundings, gradients=gradients, seeds=seeds)
        give_back()
        return ran, where

    def by_edit(
        self, row: Checked, args: Sequence[Any], gradients: Gradients | None, is_wrong: Callable[[Ran], bool]
    ) -> Checked:
        """`row`, with the first edit after which what it says is wrong as it is, if one of them is to blame."""
        for number in range(1, len(self.edits) + 1):
            if is_wrong(self.ran(number, args, gradients, ())[0]):
                return self._by(number, row)
        return row

    def in_fp64(
        self,
        row: Checked,
        args: Sequence[Any],
        of: Of,
        place: Any,
        gradients: Gradients | None,
        traced: torch.Tensor | None,
    ) -> Checked:
        """`row`, wrong if an edit of Dynamo's graph made another function of what is at this place of a run, or
        AOTAutograd, in whose graph it is `traced` in fp64: see `first_apart`.
        """
        levels = self._origin.dynamo
        edits = len(self.edits)

        def exact(edits: int) -> Shadowed:
            ran, where = self.ran(edits, args, gradients, BOTH if self.at_once and not edits else EXACT)
            assert ran.shadow is not None
            return ran.shadow.value(of(ran, where, place))

        def apart(number: int) -> float:
            known = exact(0)
            found = exact(number) if number <= edits else None
            if any(one.reason or one.is_random for one in (known, found) if one is not None):
                return 0.0
            value = traced if found is None else found.exact
            if value is None or value.shape != known.exact.shape:
                return 0.0
            if number <= edits and not constants_of(levels[number].module) <= constants_of(levels[0].module):
                return 0.0
            return exactly_apart(value, known.exact)

        if (first := first_apart(edits + (traced is not None), apart)) is None:
            return row
        number, distance = first
        if number > edits:
            return with_fields(row, exact_apart=distance)
        return self._by(number, with_fields(row, exact_apart=distance))

    def sharing(
        self, row_of: Callable[[str], Checked], names: Sequence[str], args: Sequence[Any], gradients: Gradients | None
    ) -> list[Checked]:
        """Rows of results that an edit has share memory with others, or with inputs, which are called `names`. Raises
        what the edited graph raises.
        """

        def shared(number: int) -> set[Pair]:
            ran, _ = self.ran(number, args, gradients, ()) if number else self.plain(args, gradients)
            return sharing(Left(ran.results, ran.inputs), names, range(len(ran.results)))

        pairs = shared(len(self.edits)) - shared(0)
        found = []
        for buffer in sorted({one for one, _ in pairs}, key=lambda one: int(one.removeprefix("result "))):
            row = row_of(buffer)
            numbers = range(1, len(self.edits) + 1)
            edit = next(one for one in numbers if with_sharing(row, shared(one) & pairs, AOT).mismatch)
            row = with_fields(with_sharing(row, pairs, AOT), buffer=f"result[{buffer.removeprefix('result ')}]")
            found.append(self._by(edit, row, *sharers(buffer, pairs)))
        return found

    def _by(self, number: int, row: Checked, *there: Place) -> Checked:
        """`row`, with this edit, counted from 1, and where it begins that changed what is `there`, if that is known."""
        return by_edit(row, self._origin.dynamo[number - 1], self._origin.dynamo[number], *there)
