"""Reads from a dump that is being written what it has of one compile, and decodes it again."""

import functools
import hashlib
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from inspect_compile.dump import paths
from inspect_compile.facts import TABLES, Artifact, Call, CallSite, Fact, Graph, GraphEnd, ShapeGuard
from inspect_compile.kept.entry import DECIDED, MOST_BYTES, TOP, Entry, EntryError

_SITE: Final = re.compile(rb'"site":(\d{1,18})[},]')
_AROUND: Final = ("backend", "compile_fx", "aot_autograd")
"""Stages of calls that torch makes in every run, whatever it takes from its cache."""
_OF_COMPILING: Final = ("before_joint_graph",)
"""Texts that there are only where torch compiles. It makes the others in every run, too."""


class Collected(NamedTuple):
    """What a dump has of a compile."""

    graphs: tuple[str, ...]
    codes: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    sites: tuple[CallSite, ...]


def sizes(root: Path) -> dict[str, int]:
    """Table at the top → its size in bytes, now."""
    found = {}
    for table in TOP:
        path = root / paths.table(table, None)
        found[table] = path.stat().st_size if path.is_file() else 0
    return found


def collected(root: Path, since: Mapping[str, int], compile_id: str, is_own: Callable[[str], bool]) -> Collected | None:
    """What was written about a compile `since` the tables at the top had these sizes; None if that is not all there is
    to it. `is_own` says of an outermost graph of the compile whether it is meant. Raises OSError, EntryError.
    """
    rows = {table: _rows_after(root, table, offset) for table, offset in since.items()}
    made = [row for _, row in rows["graphs"] if isinstance(row, Graph) and "/" not in row.graph]
    graphs = tuple(row.graph for row in made if row.compile_id == compile_id and is_own(row.graph))
    ended = {row.graph for _, row in rows["graphs"] if isinstance(row, GraphEnd) and row.status == "compiled"}
    if not graphs or not ended.issuperset(graphs):
        return None
    own = set(graphs)
    files: list[tuple[str, bytes]] = []
    for table, found in rows.items():
        lines = [line for line, row in found if _is_of(row, own, compile_id)]
        if lines:
            files.append((paths.table(table, None), b"".join(lines)))
    codes = []
    for graph in graphs:
        folder = root / paths.graph_folder(graph)
        code = folder / f"{paths.OUTPUT_CODE}.py"
        if not code.is_file():
            return None
        codes.append(hashlib.sha256(code.read_bytes()).hexdigest())
        files += _files(root, folder)
    if sum(len(data) for _, data in files) > MOST_BYTES // 2:
        return None
    return Collected(graphs, tuple(codes), tuple(files), _sites(root, files))


def decided(root: Path, entry: Entry) -> tuple[tuple[str, bytes], ...]:
    """The files of an entry that was recorded in the dump, with what torch has since decided about its kernels: their
    binaries, and what it chose from. Raises OSError.
    """
    found = dict(entry.files)
    for graph in entry.graphs:
        folder = root / paths.graph_folder(graph)
        for table in DECIDED:
            path = root / paths.table(table, graph)
            if path.is_file() and not path.is_symlink():
                found[path.relative_to(root).as_posix()] = path.read_bytes()
        found |= _files(root, folder / paths.KERNELS)
    return tuple(found.items())


def _files(root: Path, folder: Path) -> list[tuple[str, bytes]]:
    return [
        (path.relative_to(root).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def _is_of(row: Fact, graphs: set[str], compile_id: str) -> bool:
    if row.graph.split("/", 1)[0] in graphs:
        return True
    if row.graph != compile_id and not row.graph.startswith(f"{compile_id}/"):
        return False
    match row:
        case Call():
            return row.stage not in _AROUND
        case Artifact():
            return row.name in _OF_COMPILING
        case _:
            # Dynamo traces a frame in every run; a graph that it has traced is compiled only once.
            return isinstance(row, ShapeGuard) or row.table != ShapeGuard.table


def _rows_after(root: Path, table: str, offset: int) -> list[tuple[bytes, Fact]]:
    path = root / paths.table(table, None)
    if not path.is_file():
        return []
    with path.open("rb") as file:
        file.seek(offset)
        lines = file.read().splitlines(keepends=True)
    return list(zip(lines, decoded(table, b"".join(lines)), strict=True))


def _sites(root: Path, files: Iterable[tuple[str, bytes]]) -> tuple[CallSite, ...]:
    """The calls that rows name, and those that led to them, each after what called it."""
    path = root / paths.table(CallSite.table, None)
    if not path.is_file():
        return ()
    known: dict[int, Any] = {row.site: row for row in decoded(CallSite.table, path.read_bytes())}  # type: ignore[attr-defined]
    wanted: set[int] = set()
    waiting = {int(site) for name, data in files if name.endswith(".jsonl") for site in _SITE.findall(data)}
    while waiting:
        site = waiting.pop()
        if site in known and site not in wanted:
            wanted.add(site)
            waiting.add(known[site].caller)
    return tuple(known[site] for site in sorted(wanted))


@functools.cache
def _decoder(table: str) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(functools.reduce(operator.or_, TABLES[table]))


def decoded(table: str, data: bytes) -> list[Fact]:
    """The rows in the text of a table; raises EntryError."""
    try:
        found: list[Fact] = _decoder(table).decode_lines(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EntryError(f"a row of {table} cannot be read ({error})") from None
    return found
