"""Appends facts to a dump, from the thread that observed them. Derives nothing."""

import errno
import itertools
import os
import posixpath
import threading
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import msgspec

from inspect_compile.at_start import AtStart
from inspect_compile.dump import dropping, paths
from inspect_compile.dump.whole_writes import append, is_folder, make, write
from inspect_compile.facts import Fact, Run
from inspect_compile.interrupts import let_pass

FLUSH_SECONDS = 0.2
"""A killed program loses at most what was recorded since the last flush: the limit is 0.5 s."""

CLOSING = 64 << 10
"""Bytes reserved for what is written after a dump has reached its size limit."""


MOST_KEPT = 64 << 20
"""Bytes that wait for a descriptor while the program has used up all of them."""

_NONE_FREE = (errno.EMFILE, errno.ENFILE)
_NAMED = 3
"""Maximum number of files that `Writer.trouble` names."""

BATCH = 64
"""Facts of a table that are encoded at once. More objects alive would trigger Python's garbage collector."""


_CHANGED_ROOT = "the program changed its root directory (chroot): later facts are not in {}"


def _root_directory() -> tuple[int, int]:
    """Device and number of what is `/` now."""
    found = AtStart.status(os.sep)
    return found.st_dev, found.st_ino


class _Rows:
    """What is pending for one table: encoded rows, and facts that follow them."""

    __slots__ = ("data", "facts")

    def __init__(self) -> None:
        self.data = bytearray()
        self.facts: list[Fact] = []


class Writer:
    """Facts and files of one process, below `root`.

    Facts wait until the next flush, encoded some at a time: one append a table and flush. After a fork the child's
    writer starts empty and must be given a root of its own.
    A disk that refuses is remembered in `trouble`, and never raises into the program that is watched. What finds no
    free descriptor is written with a later flush. More than `bytes_limit` is not written, and `is_full` from then on.
    """

    def __init__(self, root: Path, *, bytes_limit: int | None = None) -> None:
        self.root = root
        self.outside = _root_directory()
        """The root directory below which `root` is: the program may get another one (chroot)."""
        self._trouble: str | None = None
        """What went wrong first, but for `_refusal`."""
        self._refusal = ""
        """Why the system refused to write, the first time."""
        self._lost: dict[str, None] = {}
        """Files that are incomplete or missing: a set in order."""
        self.bytes_written = 0
        self.is_full = False
        """Whether `bytes_limit` was reached and something left out; a small part of it is reserved for the end."""
        self._bytes_limit = bytes_limit
        self._encoder = msgspec.json.Encoder(enc_hook=str)
        self._waiting: dict[tuple[str, str | None], _Rows] = {}
        """Table and graph → rows."""
        self._folders: set[str] = set()
        """Folders that were there, relative to the root."""
        self._files: dict[str, bytes] = {}
        """Files that wait for a descriptor."""
        self._retried: set[str] = set()
        """Names of the tables and files that do."""
        self._kept = 0
        """Bytes of them that are known to have found none."""
        self._lock = threading.RLock()
        self._disk = threading.RLock()
        """Held while tables are appended to or replaced."""
        self._flushed = AtStart.monotonic()

    def add(self, fact: Fact) -> None:
        """Add `fact`; it is written with the next flush."""
        with self._lock:
            rows = self._rows(fact)
            rows.facts.append(fact)
            if len(rows.facts) >= BATCH:
                self._encode(rows)
        if AtStart.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add facts of one kind and one graph."""
        rest = iter(facts)
        while batch := list(itertools.islice(rest, BATCH)):
            self.add_batch(batch)

    def add_batch(self, batch: list[Fact]) -> None:
        """Add facts of one kind and one graph."""
        with self._lock:
            rows = self._rows(batch[0])
            self._encode(rows)
            rows.facts = batch
            self._encode(rows)
        if AtStart.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def _rows(self, fact: Fact) -> "_Rows":
        key = fact.table, fact.graph if fact.per_graph else None
        rows = self._waiting.get(key)
        if rows is None:
            rows = self._waiting[key] = _Rows()
        return rows

    @property
    def trouble(self) -> str | None:
        """What went wrong, in one line: what could not be written, and why."""
        missing = [*self._lost, *sorted(self._retried - self._lost.keys())]
        if self._trouble is not None or not missing:
            return self._trouble
        more = len(missing) - _NAMED
        named = f"{', '.join(missing[:_NAMED])}{f' and {more:,} more' if more > 0 else ''}"
        verb = "is" if len(missing) == 1 else "are"
        return f"could not write below {self.root}: {self._refusal}; {named} {verb} incomplete or missing"

    @property
    def is_whole(self) -> bool:
        """Whether all that was given until now is in the dump, or waits for the next flush."""
        return self.trouble is None and not self.is_full

    def flush(self) -> None:
        """Append everything that is pending."""
        waiting: dict[tuple[str, str | None], _Rows] = {}
        try:
            with self._lock:
                self._flushed = AtStart.monotonic()
                waiting, self._waiting = self._waiting, {}
                files = list(self._files.items())
                self._kept = 0
            for name, data in files:
                self._file(name, data)
            with self._disk:
                for key, rows in waiting.items():
                    self._encode(rows)
                    self._flush_table(key, rows)
        except BaseException:  # the program's own exception
            self._take_back(waiting)
            raise

    def _flush_table(self, key: tuple[str, str | None], rows: "_Rows") -> None:
        name = paths.table(*key)
        if self._written(name, len(rows.data), lambda: self._placed(name, lambda path: append(path, rows.data))):
            rows.data.clear()
        else:
            self._take_back({key: rows})

    def drop(self, compiles: Collection[str], graphs: Collection[str]) -> None:
        """Take these compiles and their graphs out of the dump again, as `dropping.drop` does."""
        with self._disk:
            try:
                dropping.drop(self.root, compiles, graphs)
            except OSError as error:
                let_pass(error)
                self._trouble = self._trouble or f"old compiles could not be removed from {self.root}: {error}"
            self.bytes_written = dropping.bytes_in(self.root)

    def _make_room(self) -> bool:
        """Called where the size limit is reached: True if something was dropped, and there may be room now."""
        return False

    def text(self, name: str, text: str) -> None:
        """Write the file `name`, relative to the root, at once and completely."""
        self.file(name, text.encode("utf-8", "backslashreplace"))

    def file(self, name: str, data: bytes) -> None:
        """The same for any data."""
        self._file(name, data)

    def _file(self, name: str, data: bytes) -> None:
        put = self._replace if name == paths.RUN else self._put
        if self._written(name, 0 if name == paths.RUN else len(data), lambda: put(name, data)):
            self._files.pop(name, None)
        else:
            self._files[name] = data

    def run(self, run: Run) -> None:
        """Replace run.json: a reader sees the old or the new one."""
        self._file(paths.RUN, msgspec.json.format(self._encoder.encode(run), indent=2) + b"\n")

    def _put(self, name: str, data: bytes) -> None:
        self._placed(name, lambda path: write(path, data))

    def _replace(self, name: str, data: bytes) -> None:
        def put(path: Path) -> None:
            beside = path.with_suffix(f".{os.getpid()}.tmp")
            write(beside, data)
            beside.replace(path)

        self._placed(name, put)

    def after_fork(self, root: Path) -> None:
        """Reset in a forked child.

        Pending facts belong to the parent, and the lock may be held by a thread that does not exist here.
        """
        self.root = root
        self._lock, self._disk = threading.RLock(), threading.RLock()
        self._waiting, self._files, self._folders = {}, {}, set()
        self._trouble, self._refusal = None, ""
        self._lost, self._retried = {}, set()
        self.bytes_written = self._kept = 0
        self.is_full = False

    def _encode(self, rows: "_Rows") -> None:
        facts, rows.facts = rows.facts, []
        if not facts:
            return
        try:
            try:
                data = self._encoder.encode_lines(facts)
            except Exception as error:
                let_pass(error)
                data = b"".join([self._line(fact) for fact in facts])
        except BaseException:
            rows.facts = facts
            raise
        rows.data += data

    def _line(self, fact: Fact) -> bytes:
        """The encoded fact. One that cannot be encoded (a lone surrogate in a file name) is lost, which is recorded."""
        try:
            return self._encoder.encode(fact) + b"\n"
        except Exception as error:
            let_pass(error)
            self._trouble = self._trouble or f"a row of {fact.table} could not be written: {error}"
            return b""

    def _take_back(self, waiting: "dict[tuple[str, str | None], _Rows]") -> None:
        """Keep what was not written for the next flush."""
        with self._lock:
            for key, rows in waiting.items():
                later = self._waiting.get(key)
                if later is not None:
                    self._encode(rows)
                    rows.data += later.data
                    rows.facts = later.facts
                self._waiting[key] = rows

    def _placed(self, name: str, put: Callable[[Path], None]) -> None:
        """Call `put` with the file's path, in a folder that is there.

        A folder is looked for once: who removes it lets the next file in it fail, which is then put into a new one.
        """
        path, folder = self.root / name, posixpath.dirname(name)
        if folder in self._folders:
            try:
                return put(path)
            except FileNotFoundError as error:
                let_pass(error)
        self._make(path.parent)
        self._folders.add(folder)
        return put(path)

    def _make(self, folder: Path) -> None:
        if is_folder(folder):
            return
        if not is_folder(self.root) and _root_directory() != self.outside:
            self._trouble = self._trouble or _CHANGED_ROOT.format(self.root)
            raise FileNotFoundError(errno.ENOENT, self._trouble)
        if self.bytes_written and not is_folder(self.root):
            self._trouble = (
                self._trouble or f"{self.root} was removed while the program ran; earlier facts are not in it"
            )
        make(folder)

    def _written(self, name: str, size: int, put: Callable[[], None]) -> bool:
        """Call `put`, which writes a file. False if it found no free descriptor, and may find one later.

        True if it succeeded, if it never will, or if there is no room left in the dump.
        """
        if size and self._bytes_limit is not None:
            kept = 0 if self.is_full else min(CLOSING, self._bytes_limit // 8)
            while self.bytes_written + size > self._bytes_limit - kept:
                if self.is_full or not self._make_room():
                    self.is_full = True
                    return True
        try:
            put()
            self.bytes_written += size
        except OSError as error:
            let_pass(error)
            self._refusal = self._refusal or error.strerror or str(error)
            if error.errno in _NONE_FREE and self._kept + size <= MOST_KEPT:
                self._kept += size
                self._retried.add(name)
                return False
            self._lost[name] = None
        self._retried.discard(name)
        return True
