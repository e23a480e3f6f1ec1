"""Reads a dump, finished or growing, ours or a stranger's. Runs nothing from it and follows no link out of it."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from inspect_compile.dump import paths
from inspect_compile.errors import CommandError
from inspect_compile.facts import SCHEMA_VERSION, TABLES, Fact, Graph, GraphEnd, Run, Shared

LONGEST_LINE = 64 << 20
"""Bytes: no fact of ours comes near it, and a hostile line must not fill the memory."""

F = TypeVar("F", bound=Fact)


class _Table:
    """The rows of one `.jsonl` file, read as far as it has grown."""

    def __init__(self, path: Path, kinds: tuple[type[Fact], ...]) -> None:
        self._path = path
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kinds[0] if len(kinds) == 1 else _union(kinds))
        self._offset = 0
        self.rows: list[Fact] = []
        self.damaged = 0
        """Lines that could not be read: torn in the middle, or not of ours."""

    def read(self) -> None:
        """Take in the whole lines that have come since the last time; a torn last line waits."""
        try:
            size = self._path.stat().st_size
            if size <= self._offset:
                return
            with open(self._path, "rb") as file:
                file.seek(self._offset)
                while line := file.readline(LONGEST_LINE):
                    if not line.endswith(b"\n"):
                        if len(line) < LONGEST_LINE:
                            break
                        self.damaged += 1
                        while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                            pass
                        self._offset = file.tell()
                        continue
                    self._offset += len(line)
                    try:
                        self.rows.append(self._decoder.decode(line))
                    except (msgspec.DecodeError, RecursionError):
                        self.damaged += 1
        except OSError:
            return


def _union(kinds: tuple[type[Fact], ...]) -> Any:
    union: Any = kinds[0]
    for kind in kinds[1:]:
        union |= kind
    return union


class Dump:
    """What one process left. Rows keep the order in which they were observed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._tables: dict[str, _Table] = {}

    @cached_property
    def run(self) -> Run:
        """run.json; `refresh` forgets it."""
        path = self.root / paths.RUN
        try:
            return msgspec.json.decode(path.read_bytes(), type=Run)
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            raise CommandError(
                f"{path}: not a run.json that this version reads ({error}); "
                "`inspect-compile run SCRIPT` makes a new dump"
            ) from None

    @cached_property
    def shared(self) -> Shared | None:
        """What was taken out of this dump before it was shared; None for one that was not, or does not tell."""
        path = self.root / paths.SHARED
        try:
            if not path.is_file() or not paths.inside(self.root, path):
                return None
            return msgspec.json.decode(path.read_bytes(), type=Shared)
        except (OSError, msgspec.DecodeError, RecursionError):
            return None

    def refresh(self) -> bool:
        """Take in what the program has recorded since; True if there was anything new."""
        before = self._extent()
        for name in ("run", "other_processes"):
            self.__dict__.pop(name, None)
        for table in self._tables.values():
            table.read()
        return self._extent() != before

    def _extent(self) -> tuple[object, ...]:
        return sum(len(table.rows) for table in self._tables.values()), self.run, self.other_processes

    def rows(self, kind: type[F], graph: str | None = None) -> list[F]:
        """All facts of one kind; for `graph` only those of it and of the graphs nested in it."""
        found: list[F] = []
        for name in self._files(kind, graph):
            table = self._tables.get(name)
            if table is None:
                path = self.root / name
                if not paths.inside(self.root, path):
                    continue
                table = self._tables[name] = _Table(path, TABLES[kind.table])
                table.read()
            found += [row for row in table.rows if type(row) is kind]
        if graph is not None:
            found = [row for row in found if row.graph == graph or row.graph.startswith(f"{graph}/")]
        return found

    def graphs(self) -> list[Graph]:
        """The graphs in the order in which their compiles began, nested ones after the graph that they stand in."""
        order = {graph.graph: index for index, graph in reversed(list(enumerate(self.rows(Graph))))}
        unique = {graph.graph: graph for graph in self.rows(Graph)}
        return sorted(
            unique.values(), key=lambda graph: (order.get(graph.graph.split("/", 1)[0], 0), order[graph.graph])
        )

    def graph_end(self, graph: str) -> GraphEnd | None:
        """How the compile of `graph` ended, or None while it goes on."""
        return next((end for end in self.rows(GraphEnd) if end.graph == graph), None)

    def folder(self, graph: str) -> Path:
        """The folder of `graph`'s files."""
        return self.root / paths.graph_folder(graph)

    def text(self, graph: str, name: str) -> str | None:
        """A text file of `graph`, or None where there is none."""
        path = self.folder(graph) / name
        try:
            if not paths.inside(self.root, path):
                return None
            return path.read_text("utf-8", "replace")
        except OSError:
            return None

    @property
    def damaged(self) -> int:
        """Lines of the tables read so far that could not be read."""
        return sum(table.damaged for table in self._tables.values())

    @cached_property
    def other_processes(self) -> tuple[Path, ...]:
        """The parts of the same run that other processes left; `refresh` forgets them."""
        return tuple(sorted(path.parent for path in self.root.glob(f"*/{paths.RUN}") if paths.inside(self.root, path)))

    def _files(self, kind: type[Fact], graph: str | None) -> list[str]:
        if not kind.per_graph:
            return [paths.table(kind.table, None)]
        if graph is not None:
            return [paths.table(kind.table, graph)]
        return list(dict.fromkeys(paths.table(kind.table, found.graph) for found in self.graphs()))


def open_dump(path: Path) -> Dump:
    """The dump at `path`, or in it if it holds exactly one; errors say what is there instead."""
    if not path.exists():
        raise CommandError(f"{path}: no such dump; `inspect-compile run SCRIPT` makes one{_known()}")
    if path.is_file() and path.name == paths.RUN:
        path = path.parent
    if not path.is_dir():
        raise CommandError(f"{path}: not a dump but a file; a dump is a directory with a {paths.RUN} in it{_known()}")
    if not (path / paths.RUN).is_file():
        below = find_dumps(path)
        if not below:
            raise CommandError(
                f"{path}: not a dump, it holds no {paths.RUN}; `inspect-compile run SCRIPT` makes one{_known()}"
            )
        path = below[-1]
    dump = Dump(path)
    if dump.run.schema > SCHEMA_VERSION:
        raise CommandError(
            f"{path}: written by a newer inspect-compile (schema {dump.run.schema}, this one reads up to "
            f"{SCHEMA_VERSION}); upgrade with `pip install -U inspect-compile`"
        )
    return dump


def find_dumps(folder: Path) -> list[Path]:
    """The dumps in `folder` and in its torch_compile_debug, oldest first."""
    found: list[tuple[float, Path]] = []
    for below in (folder, folder / paths.BASE):
        try:
            entries = list(os.scandir(below))
        except OSError:
            continue
        for entry in entries:
            marker = Path(entry.path) / paths.RUN
            try:
                found.append((marker.stat().st_mtime, Path(entry.path)))
            except OSError:
                continue
    return [path for _, path in sorted(found)]


def newest_dump() -> Dump:
    """The newest dump below the current directory."""
    here = Path()
    if (here / paths.RUN).is_file():
        return open_dump(here)
    found = find_dumps(here)
    if not found:
        raise CommandError(
            "no dump below the current directory; `inspect-compile run SCRIPT` makes one, "
            "or name one: `inspect-compile show DUMP`"
        )
    return open_dump(found[-1])


def _known() -> str:
    found = find_dumps(Path())
    return f"; here is {found[-1]}" if found else ""
