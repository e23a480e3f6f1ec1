"""What the compiled code gives by itself, beside a level above it that computes something else."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields


class OwnResults:
    """The results of one call of the compiled code in which nothing is forced. It runs when it is first asked for."""

    def __init__(self, run: Callable[[], Sequence[Any]] | None) -> None:
        """None for `run`: the code cannot run again."""
        self._run = run

    @functools.cached_property
    def _results(self) -> Sequence[Any]:
        return () if self._run is None else self._run()

    def mended(self, row: Checked, at: int | None, compared: Callable[[Any], Checked]) -> Checked:
        """`row`, which says of a level what `compared` says of values; mended if it is wrong, and the compiled code's
        result `at` is not: a later pass took the error away, or a kernel that rounds less often than its nodes.
        """
        if verdict(row) != WRONG or at is None or at >= len(self._results):
            return row
        return with_fields(row, is_mended=verdict(compared(self._results[at])) not in (WRONG, NOT_COMPARABLE))
