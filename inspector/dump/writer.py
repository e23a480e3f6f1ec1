"""Appends facts to a dump, from the thread that observed them. Derives nothing."""

import contextlib
import errno
import itertools
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Run
from inspect_compile.interrupts import is_program, let_pass

try:
    import resource
except ImportError:  # on such a system dumps are only read
    resource = None  # type: ignore[assignment]

FLUSH_SECONDS = 0.2
"""A killed program loses at most what was recorded since the last flush: the limit is 0.5 s."""

CLOSING = 64 << 10
"""Bytes reserved for what is written after a dump has reached its size limit."""


BATCH = 64
"""Facts of a table that are encoded at once. More objects alive would trigger Python's garbage collector."""


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
    A disk that refuses is remembered in `trouble`, and never raises into the program that is watched. More than
    `bytes_limit` is not written, and `is_full` from then on.
    """

    def __init__(self, root: Path, *, bytes_limit: int | None = None) -> None:
        self.root = root
        self.trouble: str | None = None
        self.bytes_written = 0
        self.is_full = False
        """Whether `bytes_limit` was reached and something left out; a small part of it is reserved for the end."""
        self._bytes_limit = bytes_limit
        self._encoder = msgspec.json.Encoder(enc_hook=str)
        self._waiting: dict[tuple[str, str | None], _Rows] = {}
        """Table and graph → rows."""
        self._lock = threading.RLock()
        self._flushed = time.monotonic()

    def add(self, fact: Fact) -> None:
        """Add `fact`; it is written with the next flush."""
        with self._lock:
            rows = self._rows(fact)
            rows.facts.append(fact)
            if len(rows.facts) >= BATCH:
                self._encode(rows)
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
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
        if time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def _rows(self, fact: Fact) -> "_Rows":
        key = fact.table, fact.graph if fact.per_graph else None
        rows = self._waiting.get(key)
        if rows is None:
            rows = self._waiting[key] = _Rows()
        return rows

    def flush(self) -> None:
        """Append everything that is pending."""
        waiting: dict[tuple[str, str | None], _Rows] = {}
        try:
            with self._lock:
                self._flushed = time.monotonic()
                waiting, self._waiting = self._waiting, {}
            for key, rows in waiting.items():
                self._encode(rows)
                with self._writing(len(rows.data)) as allowed:
                    if allowed:
                        _append(self._made(paths.table(*key)), rows.data)
                rows.data.clear()
        except BaseException:  # the program's own exception
            self._take_back(waiting)
            raise

    def text(self, name: str, text: str) -> None:
        """Write the file `name`, relative to the root, at once and completely."""
        self.file(name, text.encode("utf-8", "backslashreplace"))

    def file(self, name: str, data: bytes) -> None:
        """The same for any data."""
        with self._writing(len(data)) as allowed:
            if allowed:
                _write(self._made(name), data)

    def run(self, run: Run) -> None:
        """Replace run.json: a reader sees the old or the new one."""
        with self._writing(0):
            path = self._made(paths.RUN)
            beside = path.with_suffix(f".{os.getpid()}.tmp")
            _write(beside, msgspec.json.format(self._encoder.encode(run), indent=2) + b"\n")
            beside.replace(path)

    def after_fork(self, root: Path) -> None:
        """Reset in a forked child.

        Pending facts belong to the parent, and the lock may be held by a thread that does not exist here.
        """
        self.root = root
        self._lock = threading.RLock()
        self._waiting = {}
        self.bytes_written = 0
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
            self.trouble = self.trouble or f"a row of {fact.table} could not be written: {error}"
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

    def _made(self, name: str) -> Path:
        path = self.root / name
        if not path.parent.is_dir():
            if self.bytes_written and not self.root.is_dir():
                self.trouble = (
                    self.trouble or f"{self.root} was removed while the program ran; what came before is not in it"
                )
            _make(path.parent)
        return path

    @contextlib.contextmanager
    def _writing(self, size: int) -> Iterator[bool]:
        if size and self._bytes_limit is not None:
            kept = 0 if self.is_full else min(CLOSING, self._bytes_limit // 8)
            if self.bytes_written + size > self._bytes_limit - kept:
                self.is_full = True
                yield False
                return
        try:
            yield True
            self.bytes_written += size
        except OSError as error:
            let_pass(error)
            self.trouble = self.trouble or f"could not write below {self.root}: {error.strerror or error}"


def _make(folder: Path) -> None:
    """Create it with its parents. `Path.mkdir` ignores every OSError, and a TimeoutError of the program's is one."""
    if folder.is_dir():
        return
    _make(folder.parent)
    try:
        os.mkdir(folder)
    except FileExistsError as error:
        let_pass(error)


def _allowed() -> int | None:
    """Maximum size that a file may have. Writing more would send the process a signal, which usually kills it."""
    if resource is None:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def _append(path: Path, data: bytearray) -> None:
    """Append `data`; if the disk takes only a part, then whole lines: an incomplete one would corrupt the next.

    `data` is emptied once it is written. If an exception of the program's interrupts it, nothing is written.
    """
    with open(path, "ab", buffering=0) as file:
        before = file.seek(0, os.SEEK_END)
        done, end, allowed = 0, len(data), _allowed()
        if allowed is not None and before + end > allowed:
            end = data.rfind(b"\n", 0, max(allowed - before, 0)) + 1
        try:
            while done < end:
                done += file.write(memoryview(data)[done:end])
            if done < len(data):
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        except BaseException as error:
            file.truncate(before if is_program(error) else before + data.rfind(b"\n", 0, done) + 1)
            raise
        data.clear()


def _write(path: Path, data: bytes) -> None:
    """Write all of it, or leave no file."""
    allowed = _allowed()
    if allowed is not None and len(data) > allowed:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    try:
        path.write_bytes(data)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
