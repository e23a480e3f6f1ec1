"""The elements of a diagram, independent of the output format: boxes, frames around them, arrows between them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

BoxKind = Literal[
    "pointwise",
    "reduction",
    "template",
    "foreach",
    "fused",
    "module",
    "other",
    "extern",
    "item",
    "nop",
    "input",
    "output",
    "elsewhere",
    "shade",
    "operator",
    "heavy",
    "load",
    "store",
    "line",
    "node",
    "asked",
    "buffer",
    "kernel",
    "launch",
    "compile",
    "stop",
    "nothing",
]
FrameKind = Literal["kernel", "group", "graph", "repeat", "loop", "function"]
ArrowKind = Literal[
    "stored", "kept", "order", "call", "refused", "again", "missed", "apart", "joined", "value", "memory", "made",
    "break", "recompile", "frame",
]  # fmt: skip


@dataclass(frozen=True)
class Shade:
    """A colour that says what was measured."""

    name: str
    fill: str
    line: str
    meaning: str = ""


@dataclass(frozen=True)
class Box:
    """One thing: an operation, an input, an output, or a reference to another section."""

    id: str
    """Letters, digits and underscores; never unescaped text from the dump."""
    kind: BoxKind
    title: str
    beside: str = ""
    """Text after the title on the same line."""
    lines: tuple[str, ...] = ()
    tooltip: tuple[str, ...] = ()
    shade: Shade | None = None
    """Its colour in place of that of its kind."""
    mark: str = ""
    """What the colour says, in words."""


@dataclass(frozen=True)
class Frame:
    """A border around boxes: a launch of a kernel, a fused group in it, a nested graph."""

    id: str
    kind: FrameKind
    text: str
    inner: "tuple[Frame | Box, ...]"
    tooltip: tuple[str, ...] = ()
    shade: Shade | None = None
    """The colour of its border in place of that of its kind."""


@dataclass(frozen=True)
class Arrow:
    """From the box that writes to the box that reads."""

    tail: str
    head: str
    kind: ArrowKind
    lines: tuple[str, ...] = ()
    tooltip: tuple[str, ...] = ()
    bytes: int = 0
    into: str | None = None
    """The frame around `head` at whose border the arrow ends, if the frame as a whole reads."""


@dataclass(frozen=True)
class Section:
    """A part of the schedule that is laid out separately. No arrow leaves it."""

    inner: tuple[Frame | Box, ...]
    arrows: tuple[Arrow, ...]
    below: tuple[tuple[str, str], ...] = ()
    """Pairs of boxes without an arrow, the second placed below the first."""
    rows: tuple[tuple[str, ...], ...] = ()
    """Boxes that are placed side by side."""


@dataclass(frozen=True)
class Picture:
    """A whole diagram. Sections are read from left to right and row by row, each from top to bottom."""

    title: str
    subtitles: tuple[str, ...]
    sections: tuple[Section, ...]
    outputs: str = ""
    """What outputs are used for, for the legend."""
    has_curves: bool = True
    """If False, arrows are straight lines, which takes half the time."""
    has_labels: bool = True
    """If False, only the tooltips of arrows have their buffers and bytes."""
    are_apart: bool = False
    """If True, sections do not refer to each other, and have no numbers."""

    def boxes(self) -> Iterator[Box]:
        """All boxes."""
        return (box for section in self.sections for box in boxes_in(section.inner))

    def frames(self) -> Iterator[Frame]:
        """All frames."""
        return (frame for section in self.sections for frame in frames_in(section.inner))

    def arrows(self) -> Iterator[Arrow]:
        """All arrows."""
        return (arrow for section in self.sections for arrow in section.arrows)


def boxes_in(inner: Iterable[Frame | Box]) -> Iterator[Box]:
    """The boxes at any depth."""
    for one in inner:
        if isinstance(one, Box):
            yield one
        else:
            yield from boxes_in(one.inner)


def frames_in(inner: Iterable[Frame | Box]) -> Iterator[Frame]:
    """The frames at any depth, outer ones first."""
    for one in inner:
        if isinstance(one, Frame):
            yield one
            yield from frames_in(one.inner)
