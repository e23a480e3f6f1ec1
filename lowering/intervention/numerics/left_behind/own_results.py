"""What the compiled code gives by itself, beside a level above it that computes something else."""

import functools
from collections.abc import Callable
from typing import Any

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict
from inspect_compile.lowering.intervention.numerics.forced import with_fields
from inspect_compile.lowering.intervention.numerics.results import Left, Place


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
