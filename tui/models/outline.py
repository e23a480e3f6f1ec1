"""The tree on the left: the run, its ranks if there are any, their frames, their graphs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from inspect_compile.analysis.dumps.parts import ProcessDump, asked_of_replay, parts, run_around
from inspect_compile.analysis.dumps.run_state import run_state
from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Graph, GraphBreak, GraphEnd, Kernel
from inspect_compile.facts.compile_id import compile_order
from inspect_compile.graph import ShortNames, grouped
from inspect_compile.graph.kernels.launches import distinct
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
    options: tuple[str, ...] = ()
    """What selects a graph in a command: `--graph forward`; nothing if the dump has no other."""


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
    tree = _Builder(dump, is_growing=state.is_growing, with_kernels=with_kernels).tree()
    rows = list(tree.rows())
    places = {key: place for key, _, place in rows}
    return Outline(
        Table(COLUMNS, [Row.of(COLUMNS, entry, key, None) for key, entry, _ in rows], header=False),
        places,
        next((key for key, place in places.items() if place.kind == "graph"), None),
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


@dataclass(frozen=True)
class _Branch:
    """A row of the tree with the rows below it."""

    key: str
    name: Cell
    place: Place
    note: Cell = ()
    inner: "tuple[_Branch, ...]" = ()

    def rows(self, before: str = "", guide: str = "") -> Iterator[tuple[str, Entry, Place]]:
        """The rows from here on; `before` is drawn before each row below this one."""
        yield self.key, Entry(before + guide, self.name, self.note), self.place
        below = before + {"└ ": "  ", "├ ": "│ "}.get(guide, "")
        for branch in self.inner:
            yield from branch.rows(below, "└ " if branch is self.inner[-1] else "├ ")


class _Builder:
    """Makes the branches of a dump, or of the whole run that the dump is a part of."""

    def __init__(self, dump: Dump, *, is_growing: bool, with_kernels: bool) -> None:
        self._dump = dump
        self._is_growing = is_growing
        self._with_kernels = with_kernels
        self._outermost = len(dump.outermost())
        self._short = ShortNames(dump)
        self._ends = {end.graph: end for end in dump.rows(GraphEnd)}

    def tree(self) -> _Branch:
        """The run, with its frames and parts."""
        top = run_around(self._dump)
        if top is None:
            others = [self._part(part) for part in parts(self._dump)]
            return self._run(cell(program(self._dump), "name"), "", others)
        inner = [
            self._run(cell(part.name, "name"), part.name) if part.dump.root == self._dump.root else self._part(part)
            for part in parts(top)
        ]
        return _Branch(
            "top", cell(program(top), "name"), Place("part", str(top.root), title="the run"), inner=tuple(inner)
        )

    def _run(self, name: Cell, title: str, others: Sequence[_Branch] = ()) -> _Branch:
        run = self._dump.run
        failed = run.status in ("raised", "killed") or bool(run.exit_code)
        frames = self._frames(f"{title} ▸ " if title else "")
        return _Branch("run", name, Place("run", title=title), _state("failed" if failed else ""), (*frames, *others))

    def _part(self, part: ProcessDump) -> _Branch:
        kernels = sum(len(distinct(part.dump.rows(Kernel, graph.graph))) for graph in part.dump.outermost())
        name = (*cell(part.name), *cell(f" {asked_of_replay(part)}".rstrip(), "dim"))
        place = Place("part", str(part.dump.root), title=part.name)
        return _Branch(f"part {part.dump.root.name}", name, place, self._count(kernels))

    def _count(self, kernels: int) -> Cell:
        return cell(f"{kernels}▪" if kernels and self._with_kernels else "", "accent")

    def _frames(self, title: str) -> Iterator[_Branch]:
        graphs = grouped(self._dump.graphs(), lambda graph: graph.compile_id or "")
        frames = {frame.graph: frame for frame in self._dump.rows(Frame)}
        breaks = {found.graph for found in self._dump.rows(GraphBreak)}
        shown = [
            name for name in {**frames, **graphs} if name in graphs or name in breaks or frames[name].status == "failed"
        ]
        for name in sorted(shown, key=compile_order):
            yield self._frame(name, frames.get(name), graphs.get(name, []), title, has_break=name in breaks)
        if rest := len({**frames, **graphs}) - len(shown):
            yield _Branch("rest", cell(f"{rest} without graphs", "dim"), Place("run"))

    def _frame(self, name: str, frame: Frame | None, graphs: list[Graph], above: str, *, has_break: bool) -> _Branch:
        title = above + (name or "no frame")
        state: Literal["", "failed"] = "failed" if frame is not None and frame.status == "failed" else ""
        function = cell(f" {_function(frame.function)}" if frame is not None else "")
        return _Branch(
            f"frame {name}",
            (*cell(name or "no frame", "accent"), *function),
            Place("frame", name, state, title),
            _state(state) or (cell("⚡", "warn") if has_break else ()),
            tuple(self._graph(graph, title) for graph in graphs if "/" not in graph.graph),
        )

    def _graph(self, graph: Graph, above: str) -> _Branch:
        end = self._ends.get(graph.graph)
        state: Literal["", "failed", "going"] = ""
        if end is None:
            state = "going" if self._is_growing else "failed"
        elif end.status == "failed":
            state = "failed"
        title = f"{above} ▸ {graph.kind}"
        nested = self._dump.nested(graph.graph)
        inner = []
        for found in nested:
            if found.kind not in TRIES:
                name = found.graph.removeprefix(f"{graph.graph}/")
                place = Place("graph", found.graph, "", f"{title} ▸ {name}", ("--graph", found.graph))
                inner.append(_Branch(f"graph {found.graph}", cell(name), place))
        options = ("--graph", self._short.of(graph)) if self._outermost > 1 else ()
        place = Place("graph", graph.graph, state, title, options)
        if tried := len(nested) - len(inner):
            inner.append(_Branch(f"tried {graph.graph}", cell(f"{number_of(tried, 'graph')} tried", "dim"), place))
        kernels = len(distinct(self._dump.rows(Kernel, graph.graph))) if self._with_kernels else 0
        note = _state(state) or self._count(kernels)
        return _Branch(f"graph {graph.graph}", cell(graph.kind), place, note, tuple(inner))


def _state(state: str) -> Cell:
    return {"failed": cell("✗", "bad"), "going": cell("compiling", "warn")}.get(state, ())


def _function(name: str) -> str:
    """The most telling part of a qualified name; `rest of step` behind a graph break."""
    rest = resumed(name)
    if rest is not None:
        return f"rest of {rest[0]}"
    return name.rpartition("<locals>.")[2]
