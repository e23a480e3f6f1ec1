"""What two or more dumps, or all ranks of one, compiled, beside each other."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.content import content
from inspect_compile.analysis.compare.differences import compare
from inspect_compile.analysis.compare.pairing import Pairing
from inspect_compile.analysis.compare.side_by_side import Side, side_by_side
from inspect_compile.report.beside import beside_each_other
from inspect_compile.report.blocks import shown
from inspect_compile.report.markup import Budget, Markup
from inspect_compile.report.sections import folded
from inspect_compile.tables.compare.differences import Names, comparison
from inspect_compile.tables.compare.side_by_side import beside

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

CHARACTERS: Final = 1_000_000
"""What sources that stand side by side may take of a page."""


def compared(sides: "Sequence[tuple[str, Dump]]", arguments: Sequence[str]) -> Iterator[Markup]:
    """The differences of the first from each other one, the kernels of all, and what differs side by side.
    `arguments` is how a command names each dump.
    """
    (first, dump), *others = sides
    whole = content(dump)
    for (name, other), argument in zip(others, arguments[1:], strict=True):
        pairing = Pairing(whole, content(other))
        found, why = compare(pairing, (first, name)), causes(pairing, (first, name))
        both = (dump, other), Names((first, name), (arguments[0], argument))
        if why or not found:
            yield folded(f"{first} and {name}", shown(comparison(why, [], *both, limit=None)))
        if found:
            title = f"{first} and {name}: every difference"
            yield folded(title, shown(comparison([], found, *both, limit=None)))
    every = [Side(name, side) for name, side in sides]
    rows = side_by_side(every)
    yield folded("kernels beside each other", shown(beside(rows, "", limit=None)))
    yield from beside_each_other(every, rows, Budget(CHARACTERS))
