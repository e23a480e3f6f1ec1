"""The columns of the table of FLOPs, for the terminal, flops.txt and the app, and what stands below it.

May not know rich: flops.txt is written without it.
"""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.flop_rows import FlopRow
from inspect_compile.analysis.cost.flops import GraphFlops
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.text import flop_suffix, flop_text, multiple_text, one_line, share_text

UNCOUNTED: Final = {
    "own": "Triton kernels of yours (--by kernel counts those whose TTIR is recorded)",
    "other": "no rule covers them",
    "unknown": "a size is not known",
    "inner": "inside of attention, for each of its scores",
}
"""Why operators have no count: `GraphFlops.uncounted` → text."""


def label(row: FlopRow) -> str:
    """The row's place in the tree: ` conv (Conv2d)`, `  - aten.convolution`."""
    name = f" - {row.name}" if row.is_operator else f"{row.name} ({row.type})" if row.type else row.name
    return f"{' ' * row.depth}{name}"


def _label(row: FlopRow) -> Cell:
    return cell(label(row), "" if row.is_operator else "name")


_MODULE: Final[Column[FlopRow]] = Column("Module", _label, stretch=True, least=20, most=100, middle=True)
COLUMNS: Final[tuple[Column[FlopRow], ...]] = (
    _MODULE,
    Column("FLOP", lambda row: flop_text(row.flops, flop_suffix(row.total)), right=True),
    Column("% Total", lambda row: f"{row.share:.2%}", right=True),
)
"""In the form of torch's flop counter: an operator counts in every module that it is in."""


def app_flops(row: FlopRow) -> int:
    """What the app counts for a row: of an operator what ran in the module itself, so that these rows add up."""
    return row.own if row.is_operator else row.flops


def app_share(row: FlopRow) -> float:
    """The same as a share of the graph's FLOPs."""
    return app_flops(row) / row.total if row.total else 0.0


APP_COLUMNS: Final[tuple[Column[FlopRow], ...]] = (
    _MODULE,
    Column("FLOP", lambda row: multiple_text(app_flops(row), ""), right=True),
    Column("share", lambda row: share_text(app_share(row)), role="dim", right=True),
)


def count_text(count: int, uncounted: str) -> str:
    """`2 M`, with a note if not everything is counted."""
    known = multiple_text(count, "")
    return known if not uncounted else f"{known} +" if count else "not counted"


def footnotes(found: GraphFlops) -> Iterator[str]:
    """What the table leaves out."""
    if found.free:
        yield one_line(f"0 FLOP, they compute nothing: {_counts(found.free)}")
    if found.sizes:
        yield one_line(f"0 FLOP, they compute sizes and other numbers on the host: {_counts(found.sizes)}")
    yield from uncounted_notes(found)


def uncounted_notes(found: GraphFlops) -> Iterator[str]:
    """What has no count."""
    for reason, words in UNCOUNTED.items():
        if reason in found.uncounted:
            yield one_line(f"Not counted, {words}: {_counts(found.uncounted[reason])}")


def _counts(operators: dict[str, int]) -> str:
    return ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in operators.items())
