"""What Dynamo did with the program's functions: a frame for each, its compiles, the breaks that end a graph, and why it
was compiled again.
"""

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.findings.frontend.recompiles import change_words
from inspect_compile.analysis.frontend.frames import Compile, FrameRun, causes, frames, resumed
from inspect_compile.diagrams.picture import Arrow, Box, Frame, Picture, Section
from inspect_compile.diagrams.schedule import words
from inspect_compile.facts import GraphBreak
from inspect_compile.tables.text import file_name, number_of, one_line, place_text, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

MOST: Final = 40
"""Functions that are drawn, in the order of the run."""
MOST_COMPILES: Final = 6
"""Compiles of one function that are drawn; of more, the first ones and the last."""
_WIDTH: Final = 44
_LINES: Final = 4
"""Maximum length and number of the lines of a reason."""
_CAUSES: Final = 3

_Break = tuple[str, str]
"""Where it is, and why: equal ones of several compiles are one."""


def dynamo_picture(dump: "Dump") -> Picture | None:
    """All that Dynamo did in a run; None if no frame was recorded."""
    found = frames(dump)
    if not found:
        return None
    compiles = [one for run in found for one in run.compiles]
    breaks = sum(len(one.breaks) for one in compiles)
    again = sum(one.recompile is not None for one in compiles)
    counts = f"{number_of(len(found), 'function')}, {number_of(len(compiles), 'compile')}"
    subtitles = [f"{counts}, {number_of(breaks, 'graph break')}, {number_of(again, 'recompile')}"]
    if len(found) > MOST:
        subtitles.append(f"the first {MOST} functions: show dynamo has them all")
    program = file_name(dump.run.argv[0]) if dump.run.argv else ""
    title = " · ".join(filter(None, (program, "what Dynamo did")))
    return Picture(title, tuple(subtitles), (_Drawn(dump, found[:MOST]).section(),))


class _Drawn:
    """The functions as frames, with arrows between their compiles."""

    def __init__(self, dump: "Dump", runs: Sequence[FrameRun]) -> None:
        self._dump, self._runs = dump, runs
        self._compiles: dict[str, str] = {}
        """Compile id → its box."""
        self._first: list[str] = []
        """The first box of each function."""
        self._broken: dict[_Break, list[tuple[str, FrameRun, GraphBreak]]] = {}
        """Break → the boxes of the compiles that it ended, and the functions that these are of."""
        self._frames = [self._frame(number, run) for number, run in enumerate(runs)]

    def section(self) -> Section:
        """Everything."""
        breaks = {key: f"break_{number}" for number, key in enumerate(self._broken)}
        boxes = [_break_box(name, self._broken[key][0][-1]) for key, name in breaks.items()]
        arrows = [*self._recompiles(), *self._breaks(breaks)]
        gone_on = {arrow.into for arrow in arrows if arrow.into is not None}
        arrows += [arrow for arrow in self._calls() if arrow.into not in gone_on]
        return Section((*self._frames, *boxes), tuple(arrows))

    def _frame(self, number: int, run: FrameRun) -> Frame:
        boxes: list[Box] = []
        shown = run.compiles
        if len(shown) > MOST_COMPILES:
            shown = (*shown[: MOST_COMPILES - 1], shown[-1])
        for place, one in enumerate(shown):
            box = _compile_box(f"compile_{number}_{place}", one)
            self._compiles[one.compile_id] = box.id
            boxes.append(box)
            for row in one.breaks:
                key = (place_text(row.where), row.explanation or row.reason)
                self._broken.setdefault(key, []).append((box.id, run, row))
        if len(run.compiles) > len(shown):
            label = f"… {number_of(len(run.compiles) - len(shown), 'more compile')}"
            boxes.insert(-1, Box(f"more_{number}", "elsewhere", label))
        if not boxes:
            why = _wrapped(run.skip or "no compile of it was recorded")
            boxes.append(Box(f"skip_{number}", "nothing", "not compiled", lines=why, tooltip=words.tooltip([run.skip])))
        self._first.append(boxes[0].id)
        if not run.function:  # torch says which one it is at the end of a compile
            return Frame(f"function_{number}", "function", "an unknown function", tuple(boxes))
        name = words.shortened(words.function_text(run.function), 50)
        text = f"{name}   {words.shortened(file_name(run.file), 30)}:{run.line}"
        told_of = [f"{run.file}:{run.line} {run.function}", f"called from {words.place_and_code(run.caller)}"]
        return Frame(f"function_{number}", "function", text, tuple(boxes), words.tooltip(told_of))

    def _recompiles(self) -> Iterator[Arrow]:
        """From the compile whose guards failed, the newest that is drawn, to the one that was made because of that."""
        for run in self._runs:
            for one in run.compiles:
                if one.recompile is None or one.compile_id not in self._compiles:
                    continue
                found = causes(self._dump, one.recompile)
                failed = [name for cause in found for name in cause.compile_ids if name in self._compiles]
                earlier = [other.compile_id for other in run.compiles[: run.compiles.index(one)]]
                tails = failed or [name for name in reversed(earlier) if name in self._compiles]
                if not tails:
                    continue
                changes = [change_words(cause.failed) for cause in found] or list(one.recompile.failed_guards)
                lines = [line for text in dict.fromkeys(changes[:_CAUSES]) for line in _wrapped(text)]
                where = next((cause.where for cause in found if cause.where is not None), None)
                places = [words.shortened(place_text(where), _WIDTH)] if where is not None else []
                tooltip = words.tooltip([*changes, *one.recompile.reasons])
                yield Arrow(
                    self._compiles[tails[0]],
                    self._compiles[one.compile_id],
                    "recompile",
                    (*lines[: 2 * _LINES], *places),
                    tooltip,
                )

    def _breaks(self, names: dict[_Break, str]) -> Iterator[Arrow]:
        """From a compile to what ended its graph, and from there to the rest of the same function.

        Dynamo calls the rest after the function and the line that its graph ended at.
        """
        rest: dict[tuple[str, str, int], list[int]] = {}
        for number, run in enumerate(self._runs):
            if (begun := resumed(run.function)) is not None:
                rest.setdefault((run.file, *begun), []).append(number)
        for key, rows in self._broken.items():
            for box in dict.fromkeys(box for box, _, _ in rows):
                yield Arrow(box, names[key], "break")
            found: dict[int, None] = {}
            for _, run, row in rows:
                function = (resumed(run.function) or (run.function.rpartition(".")[2], 0))[0]
                for at in (row.where, *row.stack):
                    if at is not None and at.file == run.file:
                        found.update(dict.fromkeys(rest.get((run.file, function, at.line), ())))
            for number in found:
                yield Arrow(names[key], self._first[number], "break", into=f"function_{number}")

    def _calls(self) -> Iterator[Arrow]:
        """From a function to those that it called and that were compiled on their own."""
        open_runs: list[int] = []
        for number, run in enumerate(self._runs):
            del open_runs[run.depth :]
            if open_runs:
                label = (words.shortened(place_text(run.caller), _WIDTH),) if run.caller is not None else ()
                yield Arrow(self._first[open_runs[-1]], self._first[number], "frame", label, into=f"function_{number}")
            open_runs.append(number)


def _compile_box(name: str, one: Compile) -> Box:
    frame = one.frame
    if frame is None:
        return Box(name, "nothing", one_line(one.compile_id), "did not end")
    is_done = frame.status == "compiled"
    lines = [f"{number_of(frame.nodes, 'node')}, {number_of(one.guards, 'guard')}, {seconds_text(frame.seconds)}"]
    if not is_done and frame.reason:
        lines += _wrapped(frame.reason)
    return Box(
        name,
        "compile" if is_done else "nothing",
        words.shortened(one.compile_id),
        words.shortened(frame.status, 20),
        tuple(lines),
        words.tooltip([f"{one.compile_id} {frame.status}", frame.reason or ""]),
    )


def _break_box(name: str, row: GraphBreak) -> Box:
    why = row.explanation or row.reason.strip().rpartition("\n")[2]
    place = (words.shortened(words.place_and_code(row.where), words.LINE_WIDTH),) if row.where is not None else ()
    tooltip = [words.place_and_code(row.where), row.reason, *row.hints]
    return Box(name, "stop", "graph break", "", (*place, *_wrapped(why)), words.tooltip(tooltip))


def _wrapped(text: str) -> tuple[str, ...]:
    lines = wrap(one_line(text)[:400], _WIDTH)
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], words.shortened(" ".join(lines[_LINES - 1 :]), _WIDTH)]
    return tuple(lines)
