"""The tree on the left: the run, its ranks if there are any, their frames, their graphs."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from inspect_compile.analysis.dumps.graphs import outermost
from inspect_compile.analysis.dumps.parts import Part, asked_of_replay, parts, run_around
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.kernels.launches import distinct
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Graph, GraphBreak, GraphEnd, Kernel
from inspect_compile.facts.compile_id import compile_order
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.text import file_name, number_of, program_words
from inspect_compile.tui.models.sheet import Row, Table


class Entry(NamedTuple):
    """One row of the tree."""

    guide: str
    """The lines drawn before its name."""
    name: Cell
    note: Cell = ()
    """Its state, or the number of its kernels."""


COLUMNS: Final[tuple[Column[Entry], ...]] = (
    Column("", lambda entry: (*cell(entry.guide, "dim"), *entry.name), stretch=True, least=6, most=60),
    Column("", lambda entry: entry.note, right=True),
)
"""Without titles: the tree has no header."""

TRIES: Final = frozenset({"autotune", "constants"})
"""Kinds of nested graphs that are only experiments: shown as a number."""


@dataclass(frozen=True)
class Place:
    """What a row of the tree opens."""

    kind: Literal["run", "part", "frame", "graph"]
    name: str = ""
    """Compile id of a frame, name of a graph, or folder of another process's part."""
    state: Literal["", "failed", "going"] = ""
    title: str = ""
    """Its name in the line at the top: `0/0 ▸ forward`."""


@dataclass(frozen=True)
class Outline:
    """The tree as a flat list."""

    table: Table
    places: dict[str, Place]
    """Row key → what it opens."""
    first_graph: str | None
    """The row to begin with: the first graph."""
    is_growing: bool
    program: str
    device: str
    state: str
    """What became of the program, if that needs to be mentioned."""


def outline(dump: Dump, *, with_kernels: bool = True) -> Outline:
    """The tree of the whole dump. Without kernels fewer files are read."""
    state = run_state(dump)
    builder = _Builder(dump, state.is_growing, with_kernels)
    return Outline(
        Table(COLUMNS, builder.rows, header=False),
        builder.places,
        next((key for key, place in builder.places.items() if place.kind == "graph"), None),
        state.is_growing,
        program(dump),
        dump.run.device,
        state.text,
    )


def program(dump: Dump) -> str:
    """The program in short: the script's name, or the module's."""
    words = program_words(dump.run.argv)
    if words[:1] == ["-m"] and len(words) > 1:
        return words[1]
    return next((file_name(word) for word in words if word and not word.startswith("-")), "program")


class _Builder:
    def __init__(self, dump: Dump, is_growing: bool, with_kernels: bool) -> None:
        self._dump = dump
        self._is_growing = is_growing
        self._with_kernels = with_kernels
        self.rows: list[Row] = []
        self.places: dict[str, Place] = {}
        self._ends = {end.graph: end for end in dump.rows(GraphEnd)}
        self._before = ""
        """The lines drawn before each row of the open part."""
        self._title = ""
        top = run_around(dump)
        if top is None:
            self._run("", cell(program(dump), "name"))
            self._frames()
            there = parts(dump)
            for part in there:
                self._part(part, is_last=part is there[-1])
            return
        self._add("top", Entry("", cell(program(top), "name")), Place("part", str(top.root), title="the run"))
        there = parts(top)
        for part in there:
            is_last = part is there[-1]
            if part.dump.root != dump.root:
                self._part(part, is_last=is_last)
                continue
            self._before, self._title = "  " if is_last else "│ ", f"{part.name} ▸ "
            self._run("└ " if is_last else "├ ", cell(part.name, "name"), part.name)
            self._frames()

    def _run(self, guide: str, name: Cell, title: str = "") -> None:
        run = self._dump.run
        failed = run.status in ("raised", "killed") or bool(run.exit_code)
        self._add("run", Entry(guide, name, _state("failed" if failed else "")), Place("run", title=title))

    def _part(self, part: Part, *, is_last: bool) -> None:
        kernels = sum(len(distinct(part.dump.rows(Kernel, graph.graph))) for graph in outermost(part.dump))
        note = cell(f"{kernels}▪" if kernels and self._with_kernels else "", "accent")
        place = Place("part", str(part.dump.root), title=part.name)
        name = (*cell(part.name), *cell(f" {asked_of_replay(part)}".rstrip(), "dim"))
        self._add(f"part {part.dump.root.name}", Entry("└ " if is_last else "├ ", name, note), place)

    def _frames(self) -> None:
        dump = self._dump
        graphs: dict[str, list[Graph]] = {}
        for graph in dump.graphs():
            graphs.setdefault(graph.compile_id or "", []).append(graph)
        frames = {frame.graph: frame for frame in dump.rows(Frame)}
        breaks = {found.graph for found in dump.rows(GraphBreak)}
        everything = {**frames, **graphs}
        shown = [name for name in everything if name in graphs or _is_notable(frames[name], name in breaks)]
        shown.sort(key=compile_order)
        more = bool(dump.other_processes)
        for index, name in enumerate(shown):
            is_last = index == len(everything) - 1 and not more
            self._frame(name, frames.get(name), name in breaks, graphs.get(name, []), is_last)
        rest = len(everything) - len(shown)
        if rest:
            guide = f"{self._before}{'├' if more else '└'} "
            self._add("rest", Entry(guide, cell(f"{rest} without graphs", "dim")), Place("run"))

    def _add(self, key: str, entry: Entry, place: Place) -> None:
        self.rows.append(Row.of(COLUMNS, entry, key, None))
        self.places[key] = place

    def _frame(self, name: str, frame: Frame | None, breaks: bool, graphs: list[Graph], is_last: bool) -> None:
        guide = self._before + ("└ " if is_last else "├ ")
        title = self._title + (name or "no frame")
        state: Literal["", "failed"] = "failed" if frame is not None and frame.status == "failed" else ""
        function = cell(f" {_function(frame.function)}" if frame is not None else "")
        note = _state(state) or (cell("⚡", "warn") if breaks else ())
        entry = Entry(guide, (*cell(name or "no frame", "accent"), *function), note)
        self._add(f"frame {name}", entry, Place("frame", name, state, title))
        before = self._before + ("  " if is_last else "│ ")
        outer = [graph for graph in graphs if "/" not in graph.graph]
        for index, graph in enumerate(outer):
            self._graph(graph, self._dump.nested(graph.graph), before, "└ " if index == len(outer) - 1 else "├ ", title)

    def _graph(self, graph: Graph, nested: list[Graph], before: str, guide: str, above: str) -> None:
        end = self._ends.get(graph.graph)
        state: Literal["", "failed", "going"] = ""
        if end is None:
            state = "going" if self._is_growing else "failed"
        elif end.status == "failed":
            state = "failed"
        kernels = len(distinct(self._dump.rows(Kernel, graph.graph))) if self._with_kernels else 0
        note = _state(state) or cell(f"{kernels}▪" if kernels else "", "accent")
        self._add(
            f"graph {graph.graph}",
            Entry(before + guide, cell(graph.kind), note),
            Place("graph", graph.graph, state, f"{above} ▸ {graph.kind}"),
        )
        below = before + ("  " if guide == "└ " else "│ ")
        listed = [found for found in nested if found.kind not in TRIES]
        tried = len(nested) - len(listed)
        for index, found in enumerate(listed):
            last = index == len(listed) - 1 and not tried
            name = found.graph.removeprefix(f"{graph.graph}/")
            self._add(
                f"graph {found.graph}",
                Entry(below + ("└ " if last else "├ "), cell(name)),
                Place("graph", found.graph, "", f"{above} ▸ {graph.kind} ▸ {name}"),
            )
        if tried:
            entry = Entry(f"{below}└ ", cell(f"{number_of(tried, 'graph')} tried", "dim"))
            self._add(f"tried {graph.graph}", entry, Place("graph", graph.graph, state, f"{above} ▸ {graph.kind}"))


def _is_notable(frame: Frame, breaks: bool) -> bool:
    return breaks or frame.status == "failed"


def _state(state: str) -> Cell:
    return {"failed": cell("✗", "bad"), "going": cell("…", "warn")}.get(state, ())


def _function(name: str) -> str:
    """The most telling part of a qualified name."""
    return name.rpartition("<locals>.")[2]
