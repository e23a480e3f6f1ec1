"""The statements of a large kernel in fewer boxes: each is in exactly one of them, or in one that is like another."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from inspect_compile.analysis.kernels.statement_flow import LOAD, STORE, Flow
from inspect_compile.graph import grouped

_MANY: Final = 4
"""Boxes of one node, or loads of one buffer, in one loop from which on they are one."""


@dataclass(frozen=True)
class StatementBox:
    """What one box stands for: statements, by their places in `Flow.steps`."""

    steps: tuple[int, ...]
    alike: tuple[tuple[int, ...], ...] = ()
    """Statements elsewhere that do the same with other buffers, and are not drawn."""


def folded(parts: Sequence[StatementBox], found: Flow, most: int) -> tuple[list[StatementBox], list[str]]:
    """As many folds as it takes to get to `most` boxes, and what was done, in words."""
    done = ["neighbouring statements of one FX node are one box"]
    now = _joined(parts, found)
    for fold, note in (
        (_once, "repeated statements for other buffers are drawn once"),
        (_by_node, "so are those of one FX node, and loads of one buffer, in the same loop"),
    ):
        if len(now) > most and len(fewer := fold(now, found)) < len(now):
            now = fewer
            done.append(note)
    return now, done


def _joined(parts: Sequence[StatementBox], found: Flow) -> list[StatementBox]:
    """Neighbours of one FX node, one role and one loop as one box; loads and stores of one buffer each stay apart."""

    def same(part: StatementBox) -> Hashable:
        step = found.steps[part.steps[0]]
        return step.role, step.row.nodes, step.loops, step.pointers

    return [_merged(list(run)) for _, run in groupby(parts, key=same)]


def _by_node(parts: Sequence[StatementBox], found: Flow) -> list[StatementBox]:
    """The same of those that are no neighbours, as for each place of a pooling window; in the order of the first.

    Fewer stay apart, and so do stores: what is read again in between would make a circle of arrows.
    """

    def same(part: StatementBox) -> Hashable:
        step = found.steps[part.steps[0]]
        return step.role, () if step.role == LOAD else step.row.nodes, step.loops, step.pointers, len(part.alike)

    runs = grouped((part for part in parts if found.steps[part.steps[0]].role != STORE), same).values()
    many = {part.steps: run for run in runs if len(run) >= _MANY for part in run}
    return [
        part if part.steps not in many else _merged(many[part.steps])
        for part in parts
        if part.steps not in many or many[part.steps][0] is part
    ]


def _merged(run: Sequence[StatementBox]) -> StatementBox:
    alike = zip(*(part.alike for part in run), strict=True)
    return StatementBox(
        tuple(step for part in run for step in part.steps),
        tuple(tuple(step for steps in same for step in steps) for same in alike),
    )


def _once(parts: Sequence[StatementBox], found: Flow) -> list[StatementBox]:
    """Of boxes that hang together and look like others that do, as for each parameter of an optimizer, the first."""
    of_step = {step: place for place, part in enumerate(parts) for step in part.steps}
    tails = [
        sorted({of_step[read.step] for step in part.steps for read in found.steps[step].reads if read.step in of_step})
        for part in parts
    ]
    whole = _together(len(parts), tails)
    pieces = grouped(range(len(parts)), whole.__getitem__).values()
    first: dict[Hashable, list[int]] = {}
    alike: dict[int, list[tuple[int, ...]]] = {}
    gone: set[int] = set()
    for piece in pieces:
        at = {place: number for number, place in enumerate(piece)}
        look = tuple(_look(parts[place], found, [at[tail] for tail in tails[place]]) for place in piece)
        if look not in first:
            first[look] = piece
            continue
        for kept, place in zip(first[look], piece, strict=True):
            alike.setdefault(kept, []).append(parts[place].steps)
            gone.add(place)
    return [replace(part, alike=tuple(alike.get(place, ()))) for place, part in enumerate(parts) if place not in gone]


def _look(part: StatementBox, found: Flow, tails: list[int]) -> Hashable:
    step = found.steps[part.steps[0]]
    return step.role, step.row.operator, len(part.steps), len(step.pointers), len(step.loops), tuple(tails)


def _together(count: int, tails: Sequence[Sequence[int]]) -> list[int]:
    """For each box the first of those that it hangs together with."""
    above = list(range(count))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    for place, own in enumerate(tails):
        for tail in own:
            one, other = top(place), top(tail)
            above[max(one, other)] = min(one, other)
    return [top(place) for place in range(count)]
