"""What every picture has to be, and every kind of picture of a dump."""

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice

from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.diagrams.kinds.kind import STAGES, Drawn, Kind, Missing, Wanted
from inspect_compile.diagrams.picture import Box, Frame, Picture, boxes_in
from inspect_compile.dump import Dump, open_dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Kernel, Node
from inspect_compile.graph import Graphs
from tests.conftest import TESTS

FOLDERS = ("draw/conditional", "draw/softmax_mlp_cuda", "tui/mixed", "tui/walks")


def recorded(name: str) -> Dump:
    """A dump that is kept in the repository."""
    return open_dump(TESTS / "data" / name)


def say_results(boxes: Iterable[Box]) -> set[str]:
    """The boxes that say in a line what they give the output, in the place of an arrow."""
    return {box.id for box in boxes if any(line.startswith("→ OUTPUT: ") for line in box.lines)}


def holds_together(picture: Picture) -> None:
    """Each box and frame has its own id, and arrows, rows and stacks are of boxes of their section."""
    ids = [box.id for box in picture.boxes()]
    frames = [frame.id for frame in picture.frames()]
    assert len(ids) == len(set(ids))
    assert len(frames) == len(set(frames))
    for section in picture.sections:
        own = {box.id for box in boxes_in(section.inner)}
        inside = {frame.id: {box.id for box in boxes_in(frame.inner)} for frame in _frames(section.inner)}
        for arrow in section.arrows:
            assert {arrow.tail, arrow.head} <= own, arrow
            if arrow.into is not None:  # else Graphviz cannot end it at the border
                assert arrow.head in inside[arrow.into]
                assert arrow.tail not in inside[arrow.into]
        for pair in (*section.below, *section.rows):
            assert set(pair) <= own


def _frames(inner: tuple[object, ...]) -> Iterator[Frame]:
    for one in inner:
        if isinstance(one, Frame):
            yield one
            yield from _frames(one.inner)


def choices(dump: Dump, kind: Kind) -> Iterator[Wanted]:
    """What can be chosen of a kind, each once."""
    names = [""]
    if kind.named == "KERNEL":
        names = list(dict.fromkeys(row.name for row in dump.rows(Kernel) if row.kind != "extern"))[:3]
    if kind.named == "NODE":
        names = list(dict.fromkeys(row.name for row in dump.rows(Node)))[:60:20]
    for name in names:
        yield Wanted(name=name)
        if "fold" in kind.options:
            yield Wanted(name=name, fold=True)
            yield Wanted(name=name, fold=False)
        if "everything" in kind.options:
            yield Wanted(name=name, everything=True)
        if "findings" in kind.options:
            yield Wanted(findings=True)
        if "stage" in kind.options:
            yield from (Wanted(stage=stage) for stage in STAGES)


def drawings(dump: Dump, kind: Kind) -> Iterator[Drawn]:
    """Every picture of a kind; what there is nothing of is left out."""
    for wanted in choices(dump, kind):
        with contextlib.suppress(CommandError):  # of a device that nobody knows there is no roofline
            for found in kind.draw(dump, list(Graphs(dump)), wanted):
                if isinstance(found, Missing):
                    assert found.why
                else:
                    yield found


def one_of_each(dump: Dump) -> Iterator[Drawn]:
    """The first picture of each kind that there is of a dump."""
    for kind in KINDS.values():
        yield from islice(drawings(dump, kind), 1)
