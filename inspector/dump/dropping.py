"""Takes compiles out of a dump that is still being written, so that it holds the newest ones.

Each table is replaced in one step, that of the graphs first: a reader sees a compile whole, or without a part of what
belongs to it, or not at all. What is then no longer referred to, the folders of graphs, is removed last.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec

from inspect_compile.dump import paths
from inspect_compile.facts import CacheLookup, Graph, KeyPart, Timed
from inspect_compile.facts.compile_id import same_compile

_OF: Final = re.compile(rb'\{"fact":"[a-z_]+","graph":"((?:[^"\\]|\\.)*)"')
"""The beginning of a row, as the writer encodes it: its compile or graph."""
_CHECKSUM: Final = re.compile(rb'"checksum":"((?:[^"\\]|\\.)*)"')


def drop(root: Path, compiles: Collection[str], graphs: Collection[str]) -> None:
    """Remove the rows of these compiles and of their outermost graphs from all tables at `root`, and their files.

    `compiles` are names without attempts: `0/3` stands for `0/3_1`, too. Raises OSError; what was replaced until then
    stays so.
    """
    gone = _Gone(compiles, graphs)
    first = root / paths.table(Graph.table, None)
    for path in sorted(root.glob("*.jsonl"), key=lambda path: (path != first, path.name)):
        if path.name != paths.table(KeyPart.table, None):
            _rewrite(path, gone.kept(path.read_bytes(), follows=path.name == paths.table(Timed.table, None)))
    keys, lookups = (root / paths.table(kind.table, None) for kind in (KeyPart, CacheLookup))
    if keys.is_file() and lookups.is_file():
        _rewrite(keys, _still_used(keys.read_bytes(), lookups.read_bytes()))
    for graph in graphs:
        shutil.rmtree(root / paths.graph_folder(graph), ignore_errors=True)


def bytes_in(root: Path) -> int:
    """Size of the tables at `root` and of all files of its graphs; parts of other processes do not count."""
    graphs = (Path(folder, name) for folder, _, names in os.walk(root / paths.GRAPHS) for name in names)
    return sum(_size(path) for path in (*root.glob("*.jsonl"), *graphs))


class _Gone:
    """What is dropped, as it stands in rows."""

    def __init__(self, compiles: Collection[str], graphs: Collection[str]) -> None:
        self._compiles = set(compiles)
        self._graphs = {msgspec.json.encode(graph)[1:-1] for graph in graphs}

    def kept(self, data: bytes, *, follows: bool) -> Iterator[bytes]:
        """The rows that stay. With `follows` a row of no compile goes with the row before it."""
        was_dropped = False
        for line in data.splitlines(keepends=True):
            match = _OF.match(line)
            if match is None or match[1]:
                was_dropped = match is not None and self._has(match[1])
            elif not follows:
                was_dropped = False
            if not was_dropped:
                yield line

    def _has(self, name: bytes) -> bool:
        if name.partition(b"/")[0] in self._graphs:
            return True
        return same_compile(name.decode("utf-8", "replace")) in self._compiles


def _still_used(parts: bytes, lookups: bytes) -> Iterator[bytes]:
    """The parts of keys that a look-up which stays refers to."""
    used = set(lookups.split(b'"'))
    for line in parts.splitlines(keepends=True):
        match = _CHECKSUM.search(line)
        if match is None or match[1] in used:
            yield line


def _rewrite(path: Path, kept: Iterator[bytes]) -> None:
    """Replace a table by the rows that stay, if any goes."""
    data = b"".join(kept)
    if len(data) == _size(path):
        return
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
