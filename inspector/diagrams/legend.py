"""A legend, drawn as a small picture of the same kind."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, pairwise
from textwrap import wrap
from typing import Final

from inspect_compile.diagrams.look import LOOKS, SHADES
from inspect_compile.diagrams.picture import Arrow, ArrowKind, Box, BoxKind, Frame, Picture, Section, Shade

_COMPUTED: Final[tuple[BoxKind, ...]] = ("pointwise", "reduction", "template", "foreach", "fused", "module", "other")
"""Kinds of boxes inside kernels."""

_WRAPPED: Final = 40
"""Maximum characters of a line about a colour."""

_CALLED: Final[tuple[BoxKind, ...]] = (
    "extern", "item", "nop", "line", "node", "asked", "buffer", "load", "operator", "heavy", "store", "kernel",
    "launch", "compile", "stop", "nothing",
)  # fmt: skip

_ANYWHERE: Final[tuple[ArrowKind, ...]] = (
    "stored", "missed", "apart", "joined", "again", "order", "refused", "value", "memory", "made", "break", "recompile",
    "frame",
)  # fmt: skip
"""Kinds of arrows between any two boxes."""

_WORDS: Final[dict[ArrowKind, tuple[str, ...]]] = {
    "stored": ("a buffer and its bytes", "(thicker: more bytes)"),
    "kept": ("never stored: stays", "inside the kernel"),
    "order": ("no data: only", "the order counts"),
    "call": ("runs a nested graph",),
    "again": ("from one of the", "repeated parts to", "later ones"),
    "refused": ("not fused", "(the reason: tooltip)"),
    "apart": ("not fused, and nothing", "known would change it"),
    "missed": ("not fused, although", "both touch the same"),
    "joined": ("fused with each other,", "in which round"),
    "value": ("a value",),
    "memory": ("through memory",),
    "made": ("became",),
    "break": ("a graph break: the rest", "is compiled separately"),
    "recompile": ("compiled again,", "because"),
    "frame": ("calls",),
}


def legend(picture: Picture) -> Section:
    """The kinds of boxes and arrows in `picture`, each once, from inputs to outputs."""
    present = {box.kind for box in picture.boxes()}
    first, inside, outside, last = (
        tuple(_box(kind) for kind in kinds if kind in present)
        for kinds in (("input",), _COMPUTED, _CALLED, ("output",))
    )
    if len(inside) == 1 and any(arrow.kind == "kept" for arrow in picture.arrows()):
        inside = (*inside, replace(inside[0], id=f"{inside[0].id}_2"))
    frames = {frame.kind for frame in picture.frames()}
    framed: tuple[Frame | Box, ...] = inside
    if inside and "group" in frames:
        framed = (Frame("legend_group", "group", "operations fused into one", framed),)
    if inside and "kernel" in frames:
        framed = (Frame("legend_kernel", "kernel", "one launch of a generated kernel", framed),)
    if "repeat" in frames and inside:
        framed = (Frame("legend_repeat", "repeat", "drawn once, runs several times", framed),)
    last = tuple(replace(box, lines=(picture.outputs,)) for box in last)
    shades = tuple(_shades(picture))
    if shades:  # then colours say nothing of kinds
        plain = Shade("", *SHADES["unknown"])
        first, inside, outside, last = (
            tuple(replace(box, shade=plain) for box in boxes) for boxes in (first, inside, outside, last)
        )
        framed = tuple(_plain(one, plain) for one in framed)
        last = (*last, *shades)
    if len((*first, *inside, *outside, *last)) == 1 and any(True for _ in picture.arrows()):
        inside, outside, last = (tuple(_twice(boxes)) for boxes in (inside, outside, last))
        framed = framed if outside or last else inside
    boxes = (*first, *inside, *outside, *last)
    arrows = tuple(_arrows(picture, boxes, range(len(first), len(first) + len(inside) - 1)))
    if (
        first and framed and isinstance(framed[0], Frame) and framed[0].kind != "repeat"
    ):  # at its border, so that its title is not crossed
        border, entered = framed[0].id, inside[0].id
        arrows = tuple(replace(arrow, into=border) if arrow.head == entered else arrow for arrow in arrows)
    joined = {(arrow.tail, arrow.head) for arrow in arrows if arrow.kind != "again"}  # that one places nothing
    pairs = ((one.id, other.id) for one, other in pairwise(boxes))
    return Section((*first, *framed, *outside, *last), arrows, tuple(pair for pair in pairs if pair not in joined))


def _shades(picture: Picture) -> Iterator[Box]:
    """The colours of boxes and frames, each once."""
    shades = [*(box.shade for box in picture.boxes()), *(frame.shade for frame in picture.frames())]
    found = {shade.name: shade for shade in shades if shade is not None}
    order = [fill for fill, _ in SHADES.values()]
    ordered = sorted(found.values(), key=lambda shade: (order.index(shade.fill), shade.name))
    for number, shade in enumerate(ordered):
        lines = tuple(wrap(shade.meaning, _WRAPPED))
        yield Box(f"legend_shade_{number}", "shade", shade.name, lines=lines, shade=shade)


def _plain(one: Frame | Box, shade: Shade) -> Frame | Box:
    if isinstance(one, Box):
        return replace(one, shade=shade)
    return replace(one, inner=tuple(_plain(inside, shade) for inside in one.inner))


def _box(kind: BoxKind) -> Box:
    return Box(f"legend_{kind}", kind, "result" if kind == "item" else kind, lines=(LOOKS[kind].meaning,))


def _twice(boxes: tuple[Box, ...]) -> Iterator[Box]:
    """The only kind of box, so that an arrow has two ends."""
    for box in boxes:
        yield box
        yield replace(box, id=f"{box.id}_2")


def _arrows(picture: Picture, boxes: tuple[Box, ...], inside: range) -> list[Arrow]:
    """Each kind of arrow once, between two neighbours in the legend that it could connect in the picture too; several
    where there are fewer neighbours than kinds.
    """
    missing = {arrow.kind for arrow in picture.arrows()}
    found = []
    for index, (one, other) in enumerate(pairwise(boxes)):
        fitting: tuple[ArrowKind, ...] = _ANYWHERE
        if index in inside:
            fitting = ("kept", *fitting)
        elif one.kind in ("extern", "operator"):
            fitting = ("call", *fitting)
        kind = next((kind for kind in fitting if kind in missing), None)
        if kind is not None:
            missing.discard(kind)
            found.append(Arrow(one.id, other.id, kind, _WORDS[kind]))
    pairs = [pair for index, pair in enumerate(pairwise(boxes)) if index not in inside] or list(pairwise(boxes))
    if pairs:
        left = [kind for kind in _ANYWHERE if kind in missing]
        found += [Arrow(one.id, other.id, kind, _WORDS[kind]) for kind, (one, other) in zip(left, cycle(pairs))]
    return found
