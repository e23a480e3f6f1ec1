"""Whether a reference may accuse: it has to reproduce the program, and itself, before anything is called wrong."""

from collections.abc import Callable

import msgspec

from inspect_compile.facts import Checked
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, WRONG, verdict


def reproduced(row: Checked, plain: Checked, again: Callable[[], Checked] | None, reference: str) -> Checked:
    """`row`; if it accuses, and the `reference` that it was compared with is another one in another run, `plain` with
    that reason. `again` compares two runs; None if there can be no other one, as ranks would have to run alike.
    """
    if verdict(row) != WRONG or again is None:
        return row
    if verdict(again()) not in (WRONG, NOT_COMPARABLE):
        return row
    return not_valid(plain, f"{reference} gives something else each time that it runs")


def not_valid(plain: Checked, why: str) -> Checked:
    """`plain`, not compared, because the reference is not what the program computes."""
    return msgspec.structs.replace(plain, reason=f"the reference is not valid for {plain.buffer}: {why}")
