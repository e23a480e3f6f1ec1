"""What two or more dumps, or all ranks of one, compiled, beside each other."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.content import content
from inspect_compile.analysis.compare.differences import compare
from inspect_compile.analysis.compare.side_by_side import Side, side_by_side
from inspect_compile.report.markup import Markup
from inspect_compile.report.renderables import shown
from inspect_compile.report.sections import folded
from inspect_compile.tables.compare.differences import comparison
from inspect_compile.tables.compare.side_by_side import beside

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def compared(sides: "Sequence[tuple[str, Dump]]") -> Iterator[Markup]:
    """The differences of the first from each other one, and the kernels of all."""
    (first, dump), *others = sides
    for name, other in others:
        found = compare(content(dump), content(other), (first, name))
        why = causes(dump, other, (first, name))
        yield folded(f"{first} and {name}", shown(comparison(why, found, (dump, other), (first, name), limit=None)))
    rows = side_by_side([Side(name, side) for name, side in sides])
    yield folded("kernels beside each other", shown(beside(rows, "", limit=None)))
