"""What fusion joined: the operations from before fusion in the kernels that they ended in, with the fusions that
brought them there, round by round.
"""

from collections.abc import Hashable
from typing import Final

from inspect_compile.diagrams.picture import Picture
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.part import restricted
from inspect_compile.diagrams.schedule.schedule import unfolded
from inspect_compile.diagrams.schedule.sections import LONGEST
from inspect_compile.diagrams.schedule.units import Schedule, Unit, schedule
from inspect_compile.graph import CompiledGraph, Id, grouped
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.tables.text import number_of

MOST: Final = 80
"""Operations of a folded picture: about as many as can be read on one page."""


def joined_picture(graph: "CompiledGraph", *, fold: bool | None = None) -> Picture | None:
    """None if nothing was fused. `fold`: only kernels of several operations, each apart, and of those that compute the
    same the first; None: if there are many operations.
    """
    looks = candidates(graph)
    fused = sum(row.verdict == "fused" for row in looks)
    if not fused:
        return None
    whole = schedule(graph, "post_fusion")
    count = sum(1 for unit in whole.units for _ in unit.operations())
    before, after = count, sum(len(unit.groups) for unit in whole.units)
    subtitles = [
        graph.name,
        f"{number_of(before, 'scheduler node')} before fusion, {after:,} after it, in "
        + number_of(len(whole.units), "launch", "launches"),
        f"{number_of(fused, 'fusion')} in {number_of(max(row.round for row in looks), 'round')}",
    ]
    units, copies = list(whole.units), None
    if fold or (fold is None and count > LONGEST):
        units, copies, left_out = _fewer(whole)
        subtitles.append(f"here {number_of(len(units), 'kernel')} of several operations{left_out} (--unfold draws all)")
    drawn = restricted(whole, units)
    units = list(drawn.units)
    if copies:  # the largest first: they leave less empty between them
        units.sort(key=lambda unit: -sum(1 for _ in unit.operations()))
    return unfolded(
        graph,
        "post_fusion",
        drawn,
        units,
        None,
        what="what fusion joined",
        subtitles=tuple(subtitles),
        pairs="joined",
        copies=copies,
    )


def _fewer(whole: Schedule) -> tuple[list[Unit], dict[Id, int], str]:
    """Of the kernels of several operations the first of those that compute the same; the first group of each → how many
    there are; and what is left out, in words.
    """
    several = [unit for unit in whole.units if sum(1 for _ in unit.operations()) > 1]
    alike = list(grouped(several, _what).values())
    kept: set[Id] = set()
    left = MOST
    for units in sorted(alike, key=lambda units: -sum(1 for _ in units[0].operations())):
        size = sum(1 for _ in units[0].operations())
        if size <= left or not kept:
            kept.add(units[0].groups[0].key)
            left -= size
    more = len(several) - len(alike)
    left_out = f", {number_of(more, 'more', 'more')} of the same operations" if more else ""
    left_out += f", the largest of {len(alike):,}" if len(kept) < len(alike) else ""
    copies = {units[0].groups[0].key: len(units) for units in alike if units[0].groups[0].key in kept}
    return [units[0] for units in alike if units[0].groups[0].key in kept], copies, left_out


def _what(unit: Unit) -> Hashable:
    """What a kernel computes: the operator and the sizes of each operation, by group."""
    return tuple(
        tuple((row.kind, row.numel, row.rnumel, _operator(row.nodes)) for row in group.operations)
        for group in unit.groups
    )


def _operator(nodes: tuple[str, ...]) -> str:
    """The operator of the last node that computes, `mul` of `mul_13`."""
    last = words.computing(nodes)[-1:]
    return last[0].rstrip("0123456789").rstrip("_") if last else ""
