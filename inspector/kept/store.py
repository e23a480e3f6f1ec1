"""The folder of kept entries: whole files, of this user only, the least recently used removed first.

A file appears under its name when it is complete, so any number of processes may read and write beside each other.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from inspect_compile.at_start import AtStart
from inspect_compile.dump import paths
from inspect_compile.dump.files import whole
from inspect_compile.dump.whole_writes import write
from inspect_compile.kept.entry import MOST_BYTES, Entry, EntryError, packed, unpacked

PLACE: Final = "INSPECT_COMPILE_CACHE_DIR"
"""Variable that names the folder."""
SIZE: Final = "INSPECT_COMPILE_CACHE_BYTES"
"""Variable that limits its size."""
_MOST: Final = 1 << 30
_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_TRIES: Final = 10
_STALE: Final = 3600.0
"""Seconds after which an unfinished file is one that a process was killed over."""


def folder(environment: Mapping[str, str]) -> Path:
    """$INSPECT_COMPILE_CACHE_DIR, else below $XDG_CACHE_HOME or ~/.cache."""
    if own := environment.get(PLACE):
        return Path(own).absolute()
    base = environment.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "inspect-compile" / "compiles"


def limit(environment: Mapping[str, str]) -> int:
    """Maximum size of the folder in bytes."""
    text = environment.get(SIZE, "")
    return int(text) if text.isdecimal() else _MOST


class Store:
    """The entries for one set of `versions` below `root`, and the limit of all of them."""

    def __init__(self, root: Path, versions: tuple[str, ...], most: int) -> None:
        self.root = root
        self.versions = versions
        self._most = most
        self.versions_folder = hashlib.sha256("\0".join(versions).encode()).hexdigest()[:16]
        self._own = root / self.versions_folder

    def has(self, key: str) -> bool:
        """Whether there is anything for the key. Raises OSError."""
        try:
            return any(name.endswith(".kept") for name in os.listdir(self._folder(key)))
        except FileNotFoundError:
            return False

    def read(self, key: str, content: str) -> Entry | None:
        """The entry for what torch stored under the key; None if there is none. Raises OSError, EntryError."""
        path = self._path(key, content)
        for place in (self.root, self._own, path.parent):
            try:
                self._check(os.lstat(place), place, is_folder=True)
            except FileNotFoundError:
                return None
        try:
            file = open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")  # noqa: SIM115 - closed below
        except FileNotFoundError:
            return None
        with file:
            status = os.fstat(file.fileno())
            self._check(status, path, is_folder=False)
            if status.st_size > MOST_BYTES:
                raise EntryError(f"it is larger than {MOST_BYTES:,} bytes")
            data = file.read(MOST_BYTES + 1)
        entry = unpacked(data)
        if (entry.versions, entry.key, entry.content) != (self.versions, key, content):
            raise EntryError("it belongs to another compile, or to other versions")
        with contextlib.suppress(OSError):
            os.utime(path)
        return entry

    def write(self, entry: Entry) -> None:
        """Keep the entry, and remove what is beyond the limit. Raises OSError."""
        path = self._path(entry.key, entry.content)
        data = packed(entry)
        if len(data) > min(self._most, MOST_BYTES):
            return
        for left in reversed(range(_TRIES)):
            try:
                self._make(path.parent)
                with whole(path) as beside:
                    write(beside, data)
                    os.chmod(beside, 0o600)
                break
            except FileNotFoundError:  # another process has just removed the folder, which was empty
                if not left:
                    raise
        self._evict()

    def _folder(self, key: str) -> Path:
        return self._own / paths.safe_name(key)

    def _path(self, key: str, content: str) -> Path:
        return self._folder(key) / f"{paths.safe_name(content)[:64]}.kept"

    def _make(self, place: Path) -> None:
        """Create the folders below our own root, for this user alone. Raises OSError where one is another's."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for one in (self.root, self._own, place):
            with contextlib.suppress(FileExistsError):
                os.mkdir(one, 0o700)
            self._check(os.lstat(one), one, is_folder=True)

    @staticmethod
    def _check(status: os.stat_result, path: Path, *, is_folder: bool) -> None:
        if status.st_uid != os.geteuid() or status.st_mode & _OTHERS:
            raise PermissionError(f"{path} belongs to another user, or others can write to it")
        if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(status.st_mode):
            raise PermissionError(f"{path} is not a plain {'folder' if is_folder else 'file'}")

    def _evict(self) -> None:
        """Remove the entries that were used longest ago, of all versions, until the rest is within the limit."""
        found = sorted(_files(self.root), key=lambda one: one[1].st_mtime)
        size = sum(status.st_size for _, status in found)
        now = AtStart.time()
        for path, status in found:
            is_stale = not path.endswith(".kept") and now - status.st_mtime > _STALE
            if size > self._most or is_stale:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                    size -= status.st_size
                with contextlib.suppress(OSError):
                    os.rmdir(os.path.dirname(path))


def _files(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The files that `Store.write` makes, and their sizes and times; nothing else that lies there."""
    for versions in _folders(root):
        for key in _folders(versions.path):
            for file in _listed(key.path):
                if file.name.endswith((".kept", ".tmp")):
                    with contextlib.suppress(OSError):
                        yield file.path, file.stat(follow_symlinks=False)


def _folders(place: str | Path) -> list["os.DirEntry[str]"]:
    return [one for one in _listed(place) if one.is_dir(follow_symlinks=False)]


def _listed(place: str | Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(place) as found:
            return list(found)
    except OSError:
        return []
