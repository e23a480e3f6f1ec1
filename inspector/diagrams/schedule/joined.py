"""What fusion joined: the operations from before fusion in the kernels that they ended in, with the fusions that
brought them there, round by round.
"""

from typing import Final

from inspect_compile.diagrams.picture import Picture
from inspect_compile.diagrams.schedule.boxes import module_paths
from inspect_compile.diagrams.schedule.folding import folded
from inspect_compile.diagrams.schedule.part import restricted
from inspect_compile.diagrams.schedule.schedule import unfolded
from inspect_compile.diagrams.schedule.sections import LONGEST
from inspect_compile.diagrams.schedule.units import Schedule, Unit, schedule
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.tables.text import number_of

MOST: Final = 80
"""Operations of a folded picture: about as many as can be read on one page."""


def joined_picture(graph: "CompiledGraph", *, fold: bool | None = None) -> Picture | None:
    """None if nothing was fused. `fold`: of what repeats the first, and only kernels of several operations; None: if
    there are many operations.
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
    units = list(whole.units)
    is_folded = fold or (fold is None and count > LONGEST)
    if is_folded:
        units, left_out = _fewer(graph, whole)
        subtitles.append(f"here {number_of(len(units), 'kernel')} of several operations{left_out} (--unfold draws all)")
    drawn = restricted(whole, units)
    return unfolded(
        graph,
        "post_fusion",
        drawn,
        list(drawn.units),
        None,
        what="what fusion joined",
        subtitles=tuple(subtitles),
        pairs="joined",
        is_apart=is_folded,
    )


def _fewer(graph: "CompiledGraph", whole: Schedule) -> tuple[list[Unit], str]:
    """The kernels of several operations, each once however often it is launched, and of repeated layers those of the
    first; and what is left out, in words.
    """
    found = folded(whole, module_paths(graph))
    again = {place for copies in found.repeats for copy in copies[1:] for place in copy}
    launched: set[Id] = set()
    for place, unit in enumerate(whole.units):
        if unit.launch is not None:
            kernel = Id(unit.graph, unit.launch.kernel.name)
            again |= {place} if kernel in launched else set()
            launched.add(kernel)
    several = [(place, sum(1 for _ in unit.operations())) for place, unit in enumerate(whole.units)]
    several = [(place, size) for place, size in several if size > 1]
    first = [(place, size) for place, size in several if place not in again]
    kept: set[int] = set()
    left = MOST
    for place, size in sorted(first, key=lambda one: -one[1]):
        if size <= left or not kept:
            kept.add(place)
            left -= size
    left_out = f", {len(several) - len(first):,} more repeat them" if len(several) > len(first) else ""
    left_out += f", the largest of {len(first):,}" if len(kept) < len(first) else ""
    return [unit for place, unit in enumerate(whole.units) if place in kept], left_out
