"""Folds a schedule until it can be read: a kernel into one box, layers that repeat into one copy, and what is left into
the nn.Modules that it is of. Pure: each unit is in exactly one box.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Final

from inspect_compile.diagrams.schedule.repeats import Run, repeats
from inspect_compile.diagrams.schedule.units import Schedule, Unit
from inspect_compile.graph import Id

MOST: Final = 60
"""Boxes of a folded picture, if it can be done."""

RARE: Final = (0, 1, 2, 4, 8)
"""How often a kind of unit may occur and still be left out of what repeats: a mask that is made anew for some layers
does not make these others. What leaves the fewest boxes is taken.
"""

OUTPUT_ARROWS: Final = 4
"""Arrows to an output. Where more boxes give it something, they would hide all others."""

_CLOSE: Final = 7 / 8
"""Part of a stretch of the schedule that its repeated part must have: convolutions with a kernel of their own after
each are a chain, also in a backward graph, where each has three rows (the call and two results). As one box with as
many arrows out and in they would hide it.
"""

_ENOUGH: Final = 0.8
"""Part of the units that need no box of their own with which no more is tried."""

_DEEPEST: Final = 1_000_000
"""Of modules in modules."""

_SHARED: Final = 3
"""Readers of one kind from which on a constant may belong to all layers."""

Copies = tuple[tuple[int, ...], ...]
"""Positions of the units of each copy of a repeated part."""


@dataclass(frozen=True)
class Fold:
    """One box: a unit, the same unit of each copy of a repeated part, or neighbours of one nn.Module."""

    units: tuple[int, ...]
    """Positions in the schedule; of copies, those of the first copy come first."""
    module: str | None = None
    """The path that its neighbours have in common; None for a box of one unit in each copy."""
    repeat: int | None = None
    """The position of the repeated part that it is in."""


@dataclass(frozen=True)
class Folded:
    """The boxes of a schedule, in order of execution."""

    folds: tuple[Fold, ...]
    repeats: tuple[Copies, ...]
    fold_of: tuple[int, ...]
    """For each unit the position of its box."""
    copy_of: tuple[int, ...]
    """For each unit the number of the copy that it is in; 0 outside of what repeats."""

    def is_inside(self, tail: int, head: int) -> bool:
        """True for a dependency between two units that needs no arrow: within a box, or from copy to copy."""
        one, other = self.fold_of[tail], self.fold_of[head]
        if one == other:
            return True
        repeat = self.folds[one].repeat
        is_same = repeat is not None and repeat == self.folds[other].repeat
        return is_same and self.copy_of[tail] != self.copy_of[head]


def folded(schedule: Schedule, modules: Mapping[Id, str], most: int = MOST) -> Folded:
    """The fold of a schedule into about `most` boxes; `modules` are the paths of FX nodes."""
    units = schedule.units
    unit_of: dict[Id, int] = {
        Id.of(operation): place for place, unit in enumerate(units) for operation in unit.operations()
    }
    feeds: list[set[int]] = [set() for _ in units]
    for link in schedule.links:
        feeds[unit_of[link.head]].add(unit_of[link.tail])
    return fold([_shape(unit) for unit in units], feeds, [_path(unit, modules) for unit in units], most)


def fold(
    shapes: Sequence[Hashable], feeds: Sequence[Collection[int]], paths: Sequence[str], most: int = MOST
) -> Folded:
    """The fold of a sequence of units into about `most` boxes: of each what it is, which units it depends on, and the
    path of its nn.Module.
    """
    copies = found_copies(shapes, feeds, paths)
    first_of = {run[0][0]: number for number, run in enumerate(copies)}
    repeated = {unit for run in copies for copy in run for unit in copy}
    parts: list[Fold] = []
    for place in range(len(shapes)):
        if place in first_of:
            number = first_of[place]
            parts += [Fold(tuple(same), repeat=number) for same in zip(*copies[number], strict=True)]
        elif place not in repeated:
            parts.append(Fold((place,)))
    folds = _fewer(parts, paths, most)
    fold_of, copy_of = [0] * len(shapes), [0] * len(shapes)
    for place, one in enumerate(folds):
        for unit in one.units:
            fold_of[unit] = place
    for run in copies:
        for number, copy in enumerate(run):
            for unit in copy:
                copy_of[unit] = number
    return Folded(tuple(folds), copies, tuple(fold_of), tuple(copy_of))


def each_unit(schedule: Schedule) -> Folded:
    """A box for each unit."""
    places = tuple(range(len(schedule.units)))
    return Folded(tuple(Fold((place,)) for place in places), (), places, (0,) * len(places))


def without_arrow(places: Iterable[int]) -> frozenset[int]:
    """Of the boxes that give an output something, those that say so in a line: if they are many, all but the last."""
    found = sorted(places)
    return frozenset(found[:-1]) if len(found) > OUTPUT_ARROWS else frozenset()


def found_copies(
    shapes: Sequence[Hashable], feeds: Sequence[Collection[int]], paths: Sequence[str] | None = None
) -> tuple[Copies, ...]:
    """The repeated parts of a sequence, found among its frequent items. A constant that the first layer alone makes and
    later ones read, too, is in none of them. Where `paths` are given, a copy begins with a module if it can.
    """
    paths = paths or [""] * len(shapes)
    counts = Counter(shapes)
    shared = _shared(shapes, feeds, counts)
    best: tuple[Copies, ...] = ()
    saved = 0
    for rare in RARE:
        if saved > _ENOUGH * len(shapes):
            break
        places = [place for place, shape in enumerate(shapes) if counts[shape] > rare and place not in shared]
        among = {place: number for number, place in enumerate(places)}
        inside = [[among[other] for other in feeds[place] if other in among] for place in places]
        found = repeats([shapes[place] for place in places], inside, _common([paths[place] for place in places]))
        runs = [run for run in found if _is_close(run, places)]
        now = sum(run.period * (run.copies - 1) for run in runs)
        if now > saved:
            saved = now
            best = tuple(
                tuple(
                    tuple(places[number] for number in range(at, at + run.period))
                    for at in range(run.start, run.end, run.period)
                )
                for run in runs
            )
    return best


def _common(paths: Sequence[str]) -> list[int]:
    """How many modules each path shares with the one before it; where either is not known, as with the same module."""
    found = [0]
    for one, other in pairwise(paths):
        names = zip(one.split("."), other.split("."), strict=False)
        is_known = one and other
        found.append(sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], names)) if is_known else _DEEPEST)
    return found[: len(paths)]


def _shared(
    shapes: Sequence[Hashable], feeds: Sequence[Collection[int]], counts: Mapping[Hashable, int]
) -> frozenset[int]:
    """Units that read nothing, and that more units of one kind read than there are of their own kind: CSE has left one
    constant for all layers.
    """
    readers: dict[int, Counter[Hashable]] = {}
    for place, read in enumerate(feeds):
        for other in set(read):
            if not feeds[other]:
                readers.setdefault(other, Counter())[shapes[place]] += 1
    return frozenset(
        place
        for place, kinds in readers.items()
        if (most := max(kinds.values())) >= _SHARED and most > counts[shapes[place]]
    )


def _is_close(run: Run, places: Sequence[int]) -> bool:
    """True if most of what lies between the begin and the end of a repeated part belongs to it."""
    covered = run.period * run.copies
    return covered >= _CLOSE * (places[run.end - 1] - places[run.start] + 1)


def _shape(unit: Unit) -> Hashable:
    """What a unit is, without any name: equal for the same kernel of each layer, whatever torch called them."""
    extern = unit.launch.kernel.name if unit.launch is not None and not unit.is_kernel else ""
    return (
        unit.graph,
        extern,
        tuple(
            (
                one.kind,
                one.ir_type,
                one.extern_kernel,
                one.device,
                one.numel,
                one.rnumel,
                len(one.reads),
                len(one.writes),
            )
            for one in unit.operations()
        ),
    )


def _path(unit: Unit, modules: Mapping[Id, str]) -> str:
    """The path of the module of the last node that has one: what the unit computes, not what it takes in."""
    own = [modules.get(Id(one.graph, node), "") for one in unit.operations() for node in one.nodes]
    return next((path for path in reversed(own) if path), "")


def _fewer(parts: list[Fold], paths: Sequence[str], most: int) -> list[Fold]:
    """Neighbours joined by the longest paths that leave few enough boxes; where no path does, by their number."""
    if len(parts) <= most:
        return parts
    deepest = max((path.count(".") + 1 for path in paths if path), default=0)
    for depth in range(deepest, 0, -1):
        found = _joined(parts, [".".join(path.split(".")[:depth]) for path in paths])
        if len(found) <= most:
            return found
    found = _joined(parts, [""] * len(paths))
    size = -(-len(parts) // most)
    return _joined(parts, [""] * len(paths), size) if len(found) < most // 2 else found


def _joined(parts: Sequence[Fold], paths: Sequence[str], size: int = 0) -> list[Fold]:
    """Neighbours of one path and one repeated part as one box, of at most `size` of them if that is given."""
    groups: list[list[Fold]] = []
    for part in parts:
        last = groups[-1] if groups else []
        is_next = last and last[0].repeat == part.repeat and paths[last[0].units[0]] == paths[part.units[0]]
        if is_next and (not size or len(last) < size):
            last.append(part)
        else:
            groups.append([part])
    return [
        group[0]
        if len(group) == 1
        else Fold(
            tuple(unit for one in group for unit in one.units[:1])
            + tuple(sorted(unit for one in group for unit in one.units[1:])),
            paths[group[0].units[0]],
            group[0].repeat,
        )
        for group in groups
    ]
