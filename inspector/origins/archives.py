"""Unpacks what people attach to issues: zip, tar, tar.gz, tar.xz, tar.bz2, or one compressed file.

An archive may come from anyone. Only plain files with relative names are unpacked, into a folder that nobody else can
read, and only as many bytes as such an archive can honestly hold. Whatever else is in it is counted.
"""

import bz2
import errno
import lzma
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, Protocol

from inspect_compile.dump.files import plain_file
from inspect_compile.errors import DumpError

MOST_BYTES: Final = 4 << 30
"""Maximum bytes of all files of an archive together."""
ALWAYS: Final = 512 << 20
RATIO: Final = 1000
"""Above ALWAYS they may be at most so many times the archive: a log of torch becomes 10 times smaller, `xz` keeps one
of many ranks that are nearly equal.
"""
MOST_FILES: Final = 200_000
_DEEPEST: Final = 2
"""An archive in an archive, such as the zip of a tar.gz that GitHub takes; no deeper."""
_LONGEST_DIRECTORY: Final = 32 << 20
"""Maximum bytes of the directory of a zip, of which Python makes objects of ten times as many."""
_LARGEST_HEADER: Final = 1 << 20
"""Maximum bytes of what a tar says of one file."""
_XZ_MEMORY: Final = 512 << 20
_CHUNK: Final = 1 << 20
_MOST_NAMES: Final = 40
"""Maximum depth of a file in folders."""
_LONGEST_NAME: Final = 255
_LATEST: Final = 1 << 33
"""Seconds since the epoch, of the time of a file."""
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_UNIX: Final = 3
_PLAIN: Final = (0, 8)
"""System that made an entry of a zip, and its kind of file there: not told, or a plain one."""
_END, _END_BYTES = b"PK\x05\x06", 22
_LOCATOR, _LOCATOR_BYTES, _END64_BYTES = b"PK\x06\x07", 20, 56
_LONGEST_END: Final = (1 << 16) + _END_BYTES + _LOCATOR_BYTES + _END64_BYTES
"""The end of a zip, with its comment."""

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP, _XZ, _BZIP2 = b"\x1f\x8b\x08", b"\xfd7zXZ\0", b"BZh"
_TAR, _TAR_AT, _HEAD = b"ustar", 257, 512
_ENDINGS: Final = (".zip", ".tar", ".gz", ".tgz", ".xz", ".txz", ".bz2", ".tbz2")
"""Names of archives in an archive: weights are zips, too."""
_UNREAD: Final = (".so", ".o", ".a", ".gch", ".pch", ".safetensors", ".npy", ".npz", ".bin", ".pth")
"""Files that no reader opens are not unpacked; their folders are made."""

DAMAGE: Final = (
    tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, struct.error, EOFError, ValueError,
    RecursionError, NotImplementedError, KeyError, IndexError, OverflowError,
)  # fmt: skip
"""What Python's readers raise for a damaged archive."""

LINKS: Final = "links and devices"
OUTSIDE: Final = "names that lead out of the archive"
NAMES: Final = "names that no file can have here"
TWICE: Final = "names that occur twice"
ENCRYPTED: Final = "encrypted"
DAMAGED: Final = "damaged"
NESTED: Final = "archives in archives of archives"
TORN: Final = "what follows in a torn archive"


class _TooLargeError(Exception):
    """More bytes or files than an archive may have."""


def is_archive(path: Path) -> bool:
    """Whether the file `path` is an archive or compressed, by its first bytes."""
    file = plain_file(path) if path.is_file() else None
    if file is None:
        return False
    with file:
        return _kind(file.read(_HEAD)) != ""


def unpack(path: Path, folder: Path) -> Counter[str]:
    """Unpack `path` into `folder`, which is empty; returns why how many of its entries were left out.

    Raises DumpError if it is larger than an honest archive can be, OSError if the disk refuses.
    """
    left_out: Counter[str] = Counter()
    most = min(MOST_BYTES, max(ALWAYS, RATIO * path.stat().st_size))
    try:
        _Unpacking(folder, most, left_out).unpack(path, folder, 0)
    except _TooLargeError as error:
        raise DumpError("file", f"is not unpacked: {error}", str(path)) from None
    return left_out


def _kind(head: bytes) -> str:
    if head.startswith(_ZIP):
        return "zip"
    for kind, magic in (("gz", _GZIP), ("xz", _XZ), ("bz2", _BZIP2)):
        if head.startswith(magic):
            return kind
    return "tar" if head[_TAR_AT:].startswith(_TAR) else ""


class _Source(Protocol):
    """What bytes are read from, in order."""

    def read(self, size: int, /) -> bytes: ...


class _Entry(NamedTuple):
    """A plain file of an archive."""

    name: str
    file: _Source
    modified: float | None


class _Unpacking:
    """One archive and those in it, which share what may be unpacked."""

    def __init__(self, folder: Path, most: int, left_out: Counter[str]) -> None:
        self._folder, self._left_out, self._most = folder, left_out, most
        self._written = self._passed = 0
        self._files = 0

    def unpack(self, path: Path, folder: Path, depth: int) -> None:
        """Unpack one archive, then those that were in it."""
        inner: list[Path] = []
        with ExitStack() as stack:
            file = plain_file(path)
            if file is None:
                raise OSError(errno.EACCES, "not a plain file that can be read")
            stack.enter_context(file)
            try:
                for entry in self._entries(file, path.name, folder):
                    written = self._write(entry, folder)
                    if written is not None and written.name.lower().endswith(_ENDINGS):
                        inner.append(written)
            except DAMAGE:
                self._left_out[TORN] += 1
        for archive in filter(is_archive, inner):
            if depth + 1 >= _DEEPEST:
                self._left_out[NESTED] += 1
                continue
            place = archive.with_name(f"{archive.name}.unpacked")
            place.mkdir(exist_ok=True)
            self.unpack(archive, place, depth + 1)
            archive.unlink()

    def _entries(self, file: IO[bytes], name: str, folder: Path) -> Iterator[_Entry]:
        head = file.read(_HEAD)
        file.seek(0)
        kind = _kind(head)
        if kind == "zip":
            yield from self._of_zip(file, folder)
        elif kind == "tar":
            yield from self._of_tar(_Measured(file, self._pass), folder)
        else:
            inflated = _Inflated(file, kind)
            head = inflated.peek(_HEAD)
            if _kind(head) == "tar":
                yield from self._of_tar(_Measured(inflated, self._pass), folder)
            else:
                stem = name.rpartition(".")[0] if name.lower().endswith(_ENDINGS) else ""
                yield _Entry(stem or "log", inflated, None)

    def _of_zip(self, file: IO[bytes], folder: Path) -> Iterator[_Entry]:
        with _zip_of(file) as archive:
            for info in archive.infolist():
                kind = info.external_attr >> 28 if info.create_system == _UNIX else 0
                if info.is_dir():
                    self._make(folder, info.filename)
                elif kind not in _PLAIN:
                    self._leave_out(LINKS)
                elif info.flag_bits & 1:
                    self._leave_out(ENCRYPTED)
                else:
                    try:
                        source = archive.open(info)
                    except DAMAGE:
                        self._leave_out(DAMAGED)
                        continue
                    with source:
                        yield _Entry(info.filename, source, _time(info.date_time))

    def _of_tar(self, measured: "_Measured", folder: Path) -> Iterator[_Entry]:
        with tarfile.TarFile(fileobj=measured) as archive:  # type: ignore[arg-type]
            while (info := archive.next()) is not None:
                archive.__dict__["members"] = []  # it would keep them all
                if info.isdir():
                    self._make(folder, info.name)
                elif not info.isreg() or info.issparse():
                    self._leave_out(LINKS)
                else:
                    measured.seek(info.offset_data)
                    yield _Entry(info.name, _Part(measured, info.size), float(info.mtime))
                measured.left = _LARGEST_HEADER
        if not measured.last or measured.last.strip(b"\0"):  # `tarfile` takes a damaged header for the end
            self._left_out[TORN] += 1

    def _write(self, entry: _Entry, folder: Path) -> Path | None:
        """Write one file; its path, None if it is left out."""
        self._count()
        place = self._place(folder, entry.name)
        if place is None:
            return None
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.suffix.lower() in _UNREAD:
                return None
            file = place.open("xb")
        except OSError as error:
            self._refused(error)
            return None
        with file:
            try:
                while data := entry.file.read(_CHUNK):
                    self._written += len(data)
                    if self._written > self._most:
                        raise _TooLargeError(f"it holds more than {self._most >> 20:,} MiB")
                    file.write(data)
            except DAMAGE:
                self._left_out[DAMAGED] += 1
        if entry.modified is not None and 0 < entry.modified < _LATEST:
            os.utime(place, (entry.modified, entry.modified))
        return place

    def _make(self, folder: Path, name: str) -> None:
        """Make a folder."""
        self._count()
        place = self._place(folder, name)
        if place is not None:
            try:
                place.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                self._refused(error)

    def _refused(self, error: OSError) -> None:
        """Count a name that cannot be written; raises the error if the disk is to blame."""
        if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR):
            self._left_out[TWICE] += 1
        elif error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ):
            self._left_out[NAMES] += 1
        else:
            raise error

    def _leave_out(self, why: str) -> None:
        self._count()
        self._left_out[why] += 1

    def _count(self) -> None:
        self._files += 1
        if self._files > MOST_FILES:
            raise _TooLargeError(f"it has more than {MOST_FILES:,} entries")

    def _pass(self, count: int) -> None:
        """Count bytes that come out of a compressed archive, also those that are skipped."""
        self._passed += count
        if self._passed > max(self._most, MOST_BYTES):
            raise _TooLargeError(f"it holds more than {MOST_BYTES >> 20:,} MiB")

    def _place(self, folder: Path, name: str) -> Path | None:
        """Where an entry goes; None if it is left out."""
        name = name.replace("\\", "/")
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or _DRIVE.match(name):
            self._left_out[OUTSIDE] += 1
            return None
        if not parts or len(parts) > _MOST_NAMES or not all(map(_is_name, parts)):
            self._left_out[NAMES] += 1
            return None
        return folder.joinpath(*parts)


def _is_name(part: str) -> bool:
    try:
        return "\0" not in part and len(os.fsencode(part)) <= _LONGEST_NAME
    except UnicodeError:
        return False


def _time(moment: tuple[int, ...]) -> float | None:
    try:
        return datetime(*moment[:6], tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]
    except ValueError:
        return None


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """The zip at `path`, if its directory is of no excessive length; raises one of DAMAGE, or OSError."""
    file = plain_file(path)
    if file is None:
        raise OSError(errno.EACCES, "not a plain file that can be read")
    with file:
        if not file.read(_HEAD).startswith(_ZIP):
            raise zipfile.BadZipFile("not a zip archive")
        try:
            with _zip_of(file) as archive:
                yield archive
        except _TooLargeError as error:
            raise zipfile.BadZipFile(str(error)) from None


def _zip_of(file: IO[bytes]) -> zipfile.ZipFile:
    if _directory_bytes(file) > _LONGEST_DIRECTORY:
        raise _TooLargeError(f"its directory has more than {_LONGEST_DIRECTORY >> 20} MiB")
    return zipfile.ZipFile(file)


def _directory_bytes(file: IO[bytes]) -> int:
    """Bytes of the directory of a zip, as its end says: `zipfile` reads that much at once."""
    size = file.seek(0, os.SEEK_END)
    begin = max(0, size - _LONGEST_END)
    file.seek(begin)
    tail = file.read(_LONGEST_END)
    file.seek(0)
    at = len(tail) - _END_BYTES
    if not (tail[max(at, 0) :].startswith(_END) and tail.endswith(b"\0\0")):
        at = tail.rfind(_END)
    if at < 0 or len(tail) < at + _END_BYTES:
        return 0  # `zipfile` refuses it
    (bytes_of,) = struct.unpack_from("<L", tail, at + 12)
    locator = tail[max(at - _LOCATOR_BYTES, 0) : at]
    if locator.startswith(_LOCATOR) and len(locator) == _LOCATOR_BYTES:
        file.seek(max(0, begin + at - _LOCATOR_BYTES - _END64_BYTES))
        end64 = file.read(_END64_BYTES)
        file.seek(0)
        if len(end64) == _END64_BYTES:
            (bytes_of,) = struct.unpack_from("<Q", end64, 40)
    return int(bytes_of)


_INFLATES: Final[dict[str, Callable[[], Any]]] = {
    "gz": lambda: zlib.decompressobj(wbits=zlib.MAX_WBITS | 16),
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY),
}


class _Inflated:
    """The bytes of a compressed file, in order."""

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file, self._kind = file, kind
        self._make: Callable[[], Any] = _INFLATES[kind]
        self._inflate = self._make()
        self._compressed = b""
        self._ready = b""

    def peek(self, size: int) -> bytes:
        """The next bytes, which the next `read` returns, too."""
        while len(self._ready) < size and (data := self._next(size)):
            self._ready += data
        return self._ready[:size]

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end; raises EOFError where the file is torn."""
        if self._ready:
            data, self._ready = self._ready[:size], self._ready[size:]
            return data
        return self._next(size)

    def _next(self, size: int) -> bytes:
        while True:
            if self._inflate.eof:
                rest = (self._inflate.unused_data or self._file.read(_CHUNK)).lstrip(b"\0")
                if _kind(rest) != self._kind:
                    return b""  # whatever comes after it
                self._inflate, self._compressed = self._make(), rest
            if not self._compressed and getattr(self._inflate, "needs_input", True):
                self._compressed = self._file.read(_CHUNK)
            is_at_end = not self._compressed
            try:
                found = self._inflate.decompress(self._compressed, size)
            except OSError:  # of bz2
                raise EOFError("damaged") from None
            self._compressed = getattr(self._inflate, "unconsumed_tail", b"")  # the others keep it themselves
            if found:
                return bytes(found)
            if is_at_end and not self._inflate.eof and getattr(self._inflate, "needs_input", True):
                raise EOFError("torn")


class _Measured:
    """A file for `tarfile` that goes forward only, and reads no more than `left` bytes."""

    def __init__(self, source: _Source, spend: Callable[[int], None]) -> None:
        self._source, self._spend = source, spend
        self._at = 0
        self.left = _LARGEST_HEADER
        self.last = b""
        """What was read last."""

    def read(self, size: int) -> bytes:
        """`size` bytes, fewer at the end."""
        if size > self.left:
            raise tarfile.ReadError("its entry for a file is too long")
        self.left -= size
        pieces: list[bytes] = []
        while size and (data := self.some(size)):
            pieces.append(data)
            size -= len(data)
        self.last = b"".join(pieces)
        return self.last

    def some(self, size: int) -> bytes:
        """At most `size` bytes, those that are there."""
        data = self._source.read(min(size, _CHUNK))
        self._spend(len(data))
        self._at += len(data)
        return data

    def seek(self, to: int) -> int:
        """Skip what is before `to`."""
        if to < self._at:
            raise tarfile.ReadError("an offset points backwards")
        while self._at < to and self.some(to - self._at):
            pass
        return self._at

    def tell(self) -> int:
        """Bytes that were passed."""
        return self._at


class _Part:
    """The bytes of one file of a tar."""

    def __init__(self, measured: _Measured, size: int) -> None:
        self._measured, self._left = measured, size

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, none at the end; raises EOFError where the archive is torn."""
        if not self._left:
            return b""
        if not (data := self._measured.some(min(size, self._left))):
            raise EOFError("torn")
        self._left -= len(data)
        return data
