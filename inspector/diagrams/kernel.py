"""A kernel's inside as a picture: what it loads, computes and stores, statement by statement, with the FX node and the
user's line of each.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.kernels.statement_flow import (
    COMPUTE,
    CONSTANT,
    LOAD,
    REDUCE,
    STORE,
    Flow,
    Read,
    flow,
)
from inspect_compile.diagrams.kernel_folds import StatementBox, folded
from inspect_compile.diagrams.picture import Arrow, Box, BoxKind, Frame, Picture, Section
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.schedule import title
from inspect_compile.facts import Kernel, WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.knowledge.kernels.parameters import pointers_of
from inspect_compile.tables.text import number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

MOST: Final = 48
"""Boxes from which on statements are folded."""
MOST_DRAWN: Final = 600
"""Boxes that are drawn at all."""
_NUMBER: Final = re.compile(r"[0-9su*+/() -]{1,200}")
"""A size, with symbols: what comes after the pointers."""
_KINDS: Final[dict[str, BoxKind]] = {
    LOAD: "load",
    STORE: "store",
    REDUCE: "reduction",
    COMPUTE: "pointwise",
    CONSTANT: "pointwise",
}


def kernel_picture(
    dump: "Dump", kernel: Kernel, *, unfold: bool | None = None, everything: bool = False
) -> Picture | None:
    """The statements of `kernel` as its first launch runs them; None if they were not recorded, as of a library's."""
    launch = next((one for one in CompiledGraph(dump, kernel.graph).launches if one.kernel.name == kernel.name), None)
    rows = CompiledGraph(dump, kernel.graph).statements.all_annotated(
        kernel, launch.operations if launch is not None else ()
    )
    source = dump.text(kernel.graph, kernel.source) if kernel.source else None
    if not rows or source is None:
        return None
    found = flow(rows, source)
    buffers = _buffers(source, launch)
    hidden = set() if everything else _constants(found)
    parts = [StatementBox((place,)) for place in range(len(found.steps)) if place not in hidden]
    is_folded = len(parts) >= MOST if unfold is None else not unfold
    folds: list[str] = []
    if is_folded:
        parts, folds = folded(parts, found, MOST)
    left_out = max(0, len(parts) - MOST_DRAWN)
    parts = parts[:MOST_DRAWN]
    drawn = _Drawn(found, parts, buffers, _before(CompiledGraph(dump, kernel.graph)))
    subtitles = [one_line(kernel.graph), _subtitle(kernel, launch, found, drawn)]
    if found.tails:
        subtitles.append(f"{number_of(found.tails, 'statement')} for the last, shorter vector do the same: not drawn")
    if folds:
        subtitles.append(f"{'; '.join(folds)}: --unfold draws each")
    if left_out:
        subtitles.append(f"the first {MOST_DRAWN} boxes of {MOST_DRAWN + left_out:,}")
    return Picture(
        title(CompiledGraph(dump, kernel.graph).outermost, f"kernel {words.name_shortened(kernel.name, 60)}"),
        (*subtitles, *words.file_subtitle(drawn.file)),
        (Section(drawn.inner(), drawn.arrows),),
    )


def _subtitle(kernel: Kernel, launch: Launch | None, found: Flow, drawn: "_Drawn") -> str:
    summary = f"{number_of(len(found.steps), 'statement')} of {number_of(len(drawn.nodes()), 'FX node')}"
    if launch is not None and launch.line is not None:
        summary += f", called at output_code.py:{launch.line}"
        summary += f" and {number_of(len(kernel.launches) - 1, 'more time')}" if len(kernel.launches) > 1 else ""
    return summary


def _constants(found: Flow) -> set[int]:
    """Constants, what is computed of them alone, and what only gives an accumulator its first value."""
    literal: set[int] = set()
    first: set[int] = set()
    for place, step in enumerate(found.steps):
        if step.role == CONSTANT or (
            step.role == COMPUTE
            and step.reads
            and not step.pointers
            and all(read.step in literal for read in step.reads)
        ):
            literal.add(place)
        elif not step.reads and not step.pointers:
            first.add(place)
    return literal | first


def _buffers(source: str, launch: Launch | None) -> dict[str, str]:
    """Pointer in the source → the buffer that the launch passes; empty where it is not certain which is which."""
    pointers = pointers_of(source)
    given = launch.arguments if launch is not None else ()
    is_certain = len(pointers) <= len(given) and all(_NUMBER.fullmatch(one) for one in given[len(pointers) :])
    return dict(zip(pointers, given, strict=False)) if is_certain else {}


def _before(graph: "CompiledGraph") -> dict[str, str]:
    """Buffer → the one in whose place it is written, and not merely in memory that was free again."""
    rows = graph.rows(WrapperLine)
    return {row.becomes: row.buffer for row in rows if row.becomes and row.buffer and not row.is_planned}


class _Drawn:
    """The boxes of one kernel, those of a loop in a frame, and what goes between them."""

    def __init__(
        self, found: Flow, parts: Sequence[StatementBox], buffers: dict[str, str], before: dict[str, str]
    ) -> None:
        self._found, self._parts, self._buffers, self._before = found, parts, buffers, before
        self.file = words.one_file(where for step in found.steps for where in step.row.lines[-1:])
        self._part_of = {step: number for number, part in enumerate(parts) for step in part.steps}
        self.arrows = tuple(self._arrows())

    def nodes(self) -> set[str]:
        """The FX nodes of the drawn statements."""
        steps = (step for part in self._parts for same in (part.steps, *part.alike) for step in same)
        return {node for step in steps for node in self._found.steps[step].row.nodes}

    def inner(self) -> tuple[Frame | Box, ...]:
        """In the order of the source."""
        inner: list[Frame | Box] = []
        loops = [self._found.steps[part.steps[0]].loops[:1] for part in self._parts]
        for loop, places in groupby(range(len(self._parts)), key=lambda place: loops[place]):
            own = list(places)
            counts = {len(self._parts[place].alike) + 1 for place in own}
            is_in_frame = bool(loop) and len(counts) == 1  # then the frame has the count
            boxes = tuple(self._box(place, is_counted=not is_in_frame) for place in own)
            if not loop:
                inner += boxes
                continue
            nested = dict.fromkeys(
                name for place in own for name in self._found.steps[self._parts[place].steps[0]].loops
            )
            text = "for " + ", ".join(words.shortened(self._found.loops[name], 24) for name in list(nested)[:4])
            text += f"   × {max(counts)}, equal but for the buffers" if is_in_frame and max(counts) > 1 else ""
            inner.append(Frame(f"loop_{loop[0]}_{own[0]}", "loop", text, boxes, words.tooltip([text])))
        return tuple(inner)

    def _box(self, place: int, *, is_counted: bool) -> Box:
        part = self._parts[place]
        steps = [self._found.steps[step] for step in part.steps]
        last = steps[-1]
        row = last.row
        stored = {read.by for read in last.reads if read.is_memory}
        names = [
            self._named(pointer, is_old=last.role == LOAD and pointer.startswith("in_out") and pointer not in stored)
            for pointer in last.pointers
        ]
        nodes = words.listed(row.nodes, words.WIDTH - 10) if row.nodes else "no FX node is known"
        is_memory = last.role in (LOAD, STORE) and bool(names)  # and not a tile that the kernel has for itself
        if is_memory:
            head, beside = words.shortened(f"{last.role} {', '.join(names)}"), ""
            lines = [nodes]
        else:
            head = words.shortened(row.operator or "?", 24)
            beside = "" if head == nodes else nodes
            lines = []
        more = f"{number_of(len(steps), 'statement')}, the last " if len(steps) > 1 else ""
        lines.append(words.shortened(f"{more}{row.line}: {row.text}", words.LINE_WIDTH))
        for where in row.lines[-1:]:
            lines.append(
                words.shortened(f"{'line ' * bool(self.file)}{words.code_at(where, self.file)}", words.LINE_WIDTH)
            )
        tooltip = [f"line {one.row.line}: {one.row.text}" for one in steps]
        tooltip += [f"the same: line {self._found.steps[same[-1]].row.line}" for same in part.alike]
        beside += f" × {len(part.alike) + 1}" if part.alike and is_counted else ""
        tooltip += [f"FX: {', '.join(row.nodes)}", *(words.place_and_code(where) for where in row.lines)]
        kind = _KINDS[last.role] if is_memory or last.role == REDUCE else "pointwise"
        return Box(f"step_{place}", kind, head, beside, tuple(lines), words.tooltip(tooltip))

    def _named(self, pointer: str, *, is_old: bool = False) -> str:
        """`buf3 (in_out_ptr0)`; `is_old`: what was in that memory before the kernel wrote to it."""
        buffer = self._buffers.get(pointer, "")
        buffer = self._before.get(buffer, buffer) if is_old else buffer
        return words.shortened(f"{buffer} ({pointer})" if buffer else pointer, 32)

    def _arrows(self) -> Iterator[Arrow]:
        known: dict[tuple[int, int, bool], list[Read]] = {}
        for step, at in self._part_of.items():
            for read in self._shown_reads(step):
                tail = self._part_of[read.step]
                if tail != at:
                    known.setdefault((tail, at, read.is_memory), []).append(read)
        for (tail, head, is_memory), reads in known.items():
            names = list(dict.fromkeys(self._named(read.by) if is_memory else read.by for read in reads))
            yield Arrow(
                f"step_{tail}",
                f"step_{head}",
                "memory" if is_memory else "value",
                (words.listed(names, 30),),
                words.tooltip([f"through {name}" for name in names]),
            )

    def _shown_reads(self, step: int) -> Iterator[Read]:
        """What it reads of drawn statements, directly; constants and first values are not drawn."""
        return (read for read in self._found.steps[step].reads if read.step in self._part_of)
