"""Reads a dump, finished or growing, and untrusted. Runs nothing from it and follows no link out of it."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from inspect_compile.dump import paths
from inspect_compile.dump.call_sites import Callers
from inspect_compile.dump.files import file_inside, text_inside
from inspect_compile.dump.table import MOST_BYTES, MOST_LINES, Room, Table
from inspect_compile.dump.wholeness import lacking
from inspect_compile.errors import DumpError
from inspect_compile.facts import (
    SCHEMA_VERSION,
    TABLES,
    CallSite,
    DynamoNode,
    Fact,
    Frame,
    Graph,
    GraphEnd,
    Guard,
    Location,
    Run,
    Shared,
)
from inspect_compile.facts.nesting import outermost

LARGEST_RUN = 16 << 20
"""Maximum size of run.json in bytes: several times the longest command line that a system allows."""
LARGEST_SHARED = 1 << 20
"""Maximum size of shared.json in bytes: it has a few lines for each kind of secret."""

MOST_GRAPHS = 10_000
"""Further graphs are left out, and that is reported."""

_OF_FRAMES = (Frame.table, Guard.table, DynamoNode.table)
"""Tables of what happens before Inductor has a graph."""

F = TypeVar("F", bound=Fact)


class Dump:
    """The record of one process. Rows keep the order in which they were observed."""

    def __init__(self, root: Path, target: str | None = None, *, has_callers: bool = True, name: str = "") -> None:
        """`target` selects a part of a run's ranks if they have several; `has_callers`: lines are given theirs."""
        self.root = root
        self.name = name or str(root)
        """What a person calls it: the path of what it was read from, else its own."""
        self.target = target
        self._frames_root = _frames_root(root)
        self._tables: dict[tuple[Path, str], Table] = {}
        self._room = Room()
        self._callers: dict[Path, Callers] = {}
        self._has_callers = has_callers
        self._graphs: dict[str, Graph] = {}
        self._outermost: list[Graph] = []
        self._of_compile: dict[str | None, list[Graph]] = {}
        self._graphs_of = 0, 0
        self.derived: dict[str | None, dict[object, Any]] = {}
        """Graph → what was made of its rows, by the function that made it; None: of all graphs. `refresh` drops it."""

    def anew(self) -> "Dump":
        """The same part of the dump, for another thread: what is read lazily has room for one."""
        return Dump(self.root, self.target, has_callers=self._has_callers, name=self.name)

    def as_recorded(self) -> "Dump":
        """The same part of the dump with lines as they are in its files, without callers."""
        return Dump(self.root, self.target, has_callers=False, name=self.name)

    @cached_property
    def run(self) -> Run:
        """The contents of run.json; read again after `refresh`."""
        path = self.root / paths.RUN
        try:
            data = _bounded(self.root, path, LARGEST_RUN)
            if data is None:
                raise ValueError("it is not a plain file in the dump" if path.exists() else "there is none")
            return msgspec.json.decode(data, type=Run)
        except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
            raise DumpError("unreadable", f"not a run.json that this version reads ({error})", str(path)) from None

    @cached_property
    def shared(self) -> Shared | None:
        """What was removed from this dump before it was shared; None if it was not shared, or does not say."""
        try:
            data = _bounded(self.root, self.root / paths.SHARED, LARGEST_SHARED)
            return None if data is None else msgspec.json.decode(data, type=Shared)
        except (OSError, ValueError, RecursionError):
            return None

    def refresh(self) -> bool:
        """Read what the program has recorded since; True if there was anything new."""
        before = self._extent()
        for name in ("run", "other_processes"):
            self.__dict__.pop(name, None)
        for table in list(self._tables.values()):  # reading one can open another: that of the calls to its lines
            table.read()
        has_more = self._extent() != before
        if has_more:
            self.derived = {}
        return has_more

    def _extent(self) -> tuple[object, ...]:
        rows = sum(len(table.rows) for table in self._tables.values())
        return rows, sum(table.turns for table in self._tables.values()), self.run, self.other_processes

    def rows(self, kind: type[F], graph: str | None = None) -> list[F]:
        """All facts of one kind; with `graph` only those of it and its nested graphs."""
        found: list[Any] = []
        for name in self._files(kind, graph):
            table = self._table(name, kind)
            found += table.all(kind) if graph is None else table.of(kind, graph)
        return found

    def rows_of_compile(self, kind: type[F], compile_id: str | None) -> list[F]:
        """All facts of one of Dynamo's kinds for one compile; empty if no frame was compiled.

        Nodes of graphs nested in Dynamo's are not included, as they are in `rows`.
        """
        if compile_id is None:
            return []
        if kind is DynamoNode and self._frames_root != self.root and (again := self._traced_again(compile_id)):
            return [row for row in again if row.graph == compile_id]
        return [row for row in self.rows(kind, compile_id) if row.graph == compile_id]

    def _traced_again(self, compile_id: str) -> list[Any]:
        """Dynamo's nodes of a frame that was traced again for the target, without those of the program's own trace."""
        table = self._table(paths.table(DynamoNode.table, None), DynamoNode, self.root)
        return table.of(DynamoNode, compile_id)

    def _table(self, name: str, kind: type[Fact], root: Path | None = None) -> Table:
        root = root or (self._frames_root if kind.table in _OF_FRAMES else self.root)
        table = self._tables.get((root, name))
        if table is None:
            callers = None if kind is CallSite or not self._has_callers else self._callers_in(root)
            table = self._tables[root, name] = Table(root, root / name, TABLES[kind.table], self._room, callers)
            table.read()
        return table

    def _callers_in(self, root: Path) -> Callers:
        """What called the lines of the facts in `root`, which is that of this dump or of the program's frames."""
        if root not in self._callers:

            def rows() -> list[CallSite]:
                table = self._table(paths.table(CallSite.table, None), CallSite, root)
                table.read()
                found: list[Any] = table.all(CallSite)
                return found

            self._callers[root] = Callers(rows)
        return self._callers[root]

    def calls_to(self, where: Location) -> tuple[Location, ...]:
        """The lines on the way to `where`, innermost first, with those in torch that it calls; itself if not known."""
        return self._callers_in(self.root).chain(where.site) or (where,)

    def graphs(self) -> list[Graph]:
        """The graphs in the order in which their compiles began, nested ones after the enclosing graph."""
        return list(self._known_graphs().values())

    def outermost(self) -> list[Graph]:
        """The graphs that were compiled on their own, without nested ones."""
        self._known_graphs()
        return list(self._outermost)

    def graphs_of_compile(self, compile_id: str | None) -> list[Graph]:
        """The outermost graphs of one compile, in order; with None those without a frame."""
        self._known_graphs()
        return list(self._of_compile.get(compile_id, ()))

    def graph(self, name: str) -> Graph | None:
        """The graph of that name."""
        return self._known_graphs().get(name)

    def nested(self, graph: str) -> list[Graph]:
        """The graphs nested in `graph`, in the order in which their compiles began."""
        return [found for found in {row.graph: row for row in self.rows(Graph, graph)}.values() if found.graph != graph]

    def _known_graphs(self) -> dict[str, Graph]:
        table = self._table(paths.table(Graph.table, None), Graph)
        if (table.turns, len(table.rows)) != self._graphs_of:
            rows = self.rows(Graph)
            order = {graph.graph: index for index, graph in reversed(list(enumerate(rows)))}
            names = sorted(order, key=lambda name: (order.get(outermost(name), 0), order[name]))
            last = {graph.graph: graph for graph in rows}
            self._graphs = {name: last[name] for name in names[:MOST_GRAPHS]}
            self._graphs_of = table.turns, len(table.rows)
            self._outermost = [graph for graph in self._graphs.values() if "/" not in graph.graph]
            self._of_compile = {}
            for graph in self._outermost:
                self._of_compile.setdefault(graph.compile_id, []).append(graph)
        return self._graphs

    def graph_end(self, graph: str) -> GraphEnd | None:
        """How the compile of `graph` ended, or None while it is running."""
        return next((end for end in self.rows(GraphEnd, graph) if end.graph == graph), None)

    def folder(self, graph: str) -> Path:
        """The folder of `graph`'s files."""
        return self.root / paths.graph_folder(graph)

    def text(self, graph: str, name: str) -> str | None:
        """A text file of `graph`, or None if there is none."""
        return text_inside(self.root, self.folder(graph) / name)

    @property
    def left_out(self) -> str:
        """One sentence about what was left out of the tables read so far; empty if nothing was."""
        if not (len(self._graphs) == MOST_GRAPHS or any(table.is_cut for table in self._tables.values())):
            return ""
        return (
            f"the tables hold more than can be read from one dump ({MOST_BYTES:,} bytes, {MOST_LINES:,} lines, "
            f"{MOST_GRAPHS:,} graphs): the rest is left out"
        )

    @cached_property
    def lacking(self) -> tuple[str, ...]:
        """The tables that are missing or shorter than when the run ended, as far as it recorded that."""
        recorded = self.run.tables
        return () if not recorded or self.shared is not None else lacking(self.root, recorded)

    @property
    def damaged(self) -> int:
        """Number of unreadable lines in the tables read so far."""
        return sum(table.damaged for table in self._tables.values())

    @cached_property
    def other_processes(self) -> tuple[Path, ...]:
        """The parts of the same run by other processes; read again after `refresh`."""
        return tuple(sorted(path.parent for path in self.root.glob(f"*/{paths.RUN}") if paths.inside(self.root, path)))

    def _files(self, kind: type[Fact], graph: str | None) -> list[str]:
        if not kind.per_graph:
            return [paths.table(kind.table, None)]
        if graph is not None:
            return [paths.table(kind.table, graph)]
        return list(dict.fromkeys(paths.table(kind.table, found.graph) for found in self.graphs()))


def _frames_root(root: Path) -> Path:
    """The part with the frames: for a target or a replay, that of the program, whose graphs they are."""
    while root.name.startswith((paths.TARGET, paths.REPLAY)):
        root = root.parent
    return root


def _bounded(root: Path, path: Path, largest: int) -> bytes | None:
    """A file of the dump; None if there is none. Raises ValueError if it has more than so many bytes."""
    if (file := file_inside(root, path)) is None:
        return None
    with file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise ValueError(f"it has more than {largest:,} bytes")
    return data


def open_dump(path: Path) -> Dump:
    """The dump at `path`, or the newest in it; raises DumpError that says what is there instead."""
    try:
        is_there = path.exists()
    except OSError as error:
        raise DumpError("file", f"cannot be read ({error.strerror})", str(path)) from None
    if not is_there:
        raise DumpError("none", f"no such dump{_known()}", str(path))
    if path.is_file() and path.name == paths.RUN:
        path = path.parent
    if not path.is_dir():
        what = f"not a dump but a file; a dump is a directory with a {paths.RUN} in it{_known()}"
        raise DumpError("file", what, str(path))
    if not (path / paths.RUN).is_file():
        below = find_dumps(path)
        if not below:
            raise DumpError("none", f"not a dump, it holds no {paths.RUN}{_known()}", str(path))
        path = below[-1]
    dump = Dump(path)
    if (schema := dump.run.schema) > SCHEMA_VERSION:
        what = f"written by a newer inspect-compile (schema {schema}, this one reads up to {SCHEMA_VERSION})"
        raise DumpError("newer", what, str(path))
    return dump


def readable_dump(path: Path) -> Dump | None:
    """The dump at `path`; None where none is, or none that can be read."""
    found = Dump(path)
    try:
        return found if found.run else None
    except DumpError:
        return None


def find_dumps(folder: Path) -> list[Path]:
    """The dumps in `folder` and in its torch_compile_debug, oldest first; links that lead out of it are ignored."""
    found: list[tuple[float, Path]] = []
    for below in (folder, folder / paths.BASE):
        try:
            entries = list(os.scandir(below))
        except OSError:
            continue
        for entry in entries:
            marker = Path(entry.path) / paths.RUN
            try:
                changed = marker.stat().st_mtime
            except OSError:
                continue
            if paths.inside(below, marker):
                found.append((changed, Path(entry.path)))
    return [path for _, path in sorted(found)]


_MOST_FOLDERS = 2_000
"""Maximum number of folders that are looked through for a dump that nobody named."""


def newest_dump() -> Dump:
    """The newest dump below the current directory."""
    here = Path()
    if (here / paths.RUN).is_file():
        return open_dump(here)
    found = find_dumps(here)
    if not found:
        raise DumpError("none", _farther(here))
    return open_dump(found[-1])


def _farther(folder: Path) -> str:
    """What is said where neither `folder` nor its torch_compile_debug holds a dump: whether one is farther below."""
    waiting, looked = [folder], 0
    for below in waiting:
        if looked == _MOST_FOLDERS:
            return f"no dump in the first {_MOST_FOLDERS:,} folders below the current directory"
        looked += 1
        if found := find_dumps(below):
            return f"no dump in the current directory; the nearest below is {found[-1]}"
        try:
            with os.scandir(below) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except OSError:
            continue
        waiting += [below / name for name in names if not name.startswith(".")]
    return "no dump below the current directory"


def _known() -> str:
    found = find_dumps(Path())
    return f"; here is {found[-1]}" if found else ""
