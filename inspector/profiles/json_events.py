"""The events of a Chrome trace, chunk by chunk: a file of any length takes the memory of one chunk.

A chunk is cut after the last text that looks like the end of an event, and decoded as a list. Successful decoding
proves the cut: one inside an event or a string leaves something open. If it fails, the chunk is scanned.
"""

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Generic, Protocol, TypeVar

CHUNK: Final = 4 << 20
"""Bytes read at once."""
MOST_PENDING: Final = 64 << 20
"""Maximum size in bytes of one event, or of what precedes the first: more is no trace."""

_HEAD = re.compile(rb'"traceEvents"\s*:\s*\[')
_LONGEST_HEAD = 1 << 16
"""Bytes of a head that may lie in two chunks, mostly spaces."""
_BARE = re.compile(rb"\s*\[")
_SEAM = re.compile(rb'\}\s*,\s*(?=\{\s*")')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["{}\[\]]', re.DOTALL)
"""A string, a bracket, or the quotation mark of an unfinished string."""
_BETWEEN = b" \t\r\n,"
_QUOTE = ord('"')

T = TypeVar("T")
Decode = Callable[[bytes], list[T]]


@dataclass
class Around:
    """The text before the first event, and after the last."""

    head: bytes = b""
    tail: bytes = b""


@dataclass
class EventReader(Generic[T]):
    """Yields the events of a file, decoded as JSON lists by `decode`; None for an unreadable event."""

    path: Path
    decode: Decode[T]
    around: Around = field(default_factory=Around)
    is_cut_off: bool = False
    """Whether the file ends before its events do, as a copy that broke off; set at the end."""

    def batches(self) -> Iterator[list[T | None]]:
        """The events in order. Raises ValueError if the file is not a trace."""
        with self.path.open("rb", buffering=0) as packed:
            file = _unpacked(packed)
            pending = self._to_first(file)
            while True:
                cut = _last_seam(pending)
                batch = self._whole(pending[:cut]) if cut else None
                if batch is not None:
                    yield batch
                    pending = pending[cut:]
                elif cut or len(pending) > CHUNK:
                    spans, end, rest = _scan(pending)
                    yield self._each(pending, spans)
                    if end is not None:
                        self._end(pending[end:], file)
                        return
                    pending = pending[rest:]
                if len(pending) > MOST_PENDING:
                    raise ValueError(f"one event has more than {MOST_PENDING >> 20} MiB")
                chunk = file.read(CHUNK)
                if not chunk:
                    yield from self._last(pending)
                    return
                pending += chunk

    def _end(self, tail: bytes, file: "_Readable") -> None:
        """Read what follows the last event."""
        parts, size = [tail], len(tail)
        while chunk := file.read(CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MOST_PENDING:
                raise ValueError(f"more than {MOST_PENDING >> 20} MiB follow the last event")
        self.around.tail = b"".join(parts)

    def _to_first(self, file: "_Readable") -> bytes:
        """The text that was read after the bracket before the first event."""
        pending = bytearray(file.read(CHUNK))
        at = 0
        while True:
            found = _BARE.match(pending) or _HEAD.search(pending, at)
            if found is not None:
                self.around.head = bytes(pending[: found.end()])
                return bytes(pending[found.end() :])
            at = max(0, len(pending) - _LONGEST_HEAD)
            chunk = file.read(CHUNK)
            if not chunk or len(pending) > MOST_PENDING:
                raise ValueError("it has no traceEvents")
            pending += chunk

    def _whole(self, text: bytes) -> list[T | None] | None:
        try:
            return list(self.decode(b"[%b]" % text.strip(_BETWEEN)))
        except (ValueError, RecursionError):  # also of bytes that are no UTF-8
            return None

    def _each(self, text: bytes, spans: list[tuple[int, int]]) -> list[T | None]:
        together = self._whole(b",".join(text[start:end] for start, end in spans))
        if together is not None or not spans:
            return together or []
        return [found for start, end in spans for found in self._whole(text[start:end]) or [None]]

    def _last(self, pending: bytes) -> Iterator[list[T | None]]:
        """The rest at the end of the file, which may be incomplete."""
        cut = _last_seam(pending)
        batch = self._whole(pending[:cut]) if cut else None
        if batch is not None:
            yield batch
            pending = pending[cut:]
        spans, end, _ = _scan(pending)
        yield self._each(pending, spans)
        self.around.tail = pending[end:] if end is not None else b""
        self.is_cut_off = end is None


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Unpacked:
    """What a gzip file holds, as far as it can be unpacked: one that broke off ends there, as any other file."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._packed = packed
        self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._waiting = b""
        """Packed bytes that were read, and not unpacked yet."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; nothing at the end."""
        while True:
            if not self._waiting:
                self._waiting = self._packed.read(CHUNK)
            if self._waiting and self._unpack.eof:  # another archive follows
                self._unpack = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                found = self._unpack.decompress(self._waiting, size)
            except zlib.error:
                return b""
            is_over = not self._waiting
            self._waiting = self._unpack.unused_data if self._unpack.eof else self._unpack.unconsumed_tail
            if found or is_over:
                return found


def _unpacked(file: IO[bytes]) -> "_Readable":
    """The bytes of a file that may be packed."""
    is_packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return _Unpacked(file) if is_packed else file


def _last_seam(text: bytes) -> int:
    """Where the last event but one seems to end, including its comma; 0 if no end is found."""
    reach = 1 << 14
    while True:
        start = max(0, len(text) - reach)
        found = 0
        for seam in _SEAM.finditer(text, start):
            found = seam.end()
        if found or start == 0:
            return found
        reach <<= 3


def _scan(text: bytes) -> tuple[list[tuple[int, int]], int | None, int]:
    """Position of each complete event; of the bracket after the last one, if it is here; of the rest."""
    spans: list[tuple[int, int]] = []
    depth, start, rest = 0, 0, 0
    for token in _TOKEN.finditer(text):
        kind = text[token.start()]
        if kind == _QUOTE and token.end() - token.start() == 1:
            break
        if kind in b"{[":
            if depth == 0:
                start = token.start()
            depth += 1
        elif kind in b"}]":
            depth -= 1
            if depth < 0:
                return spans, token.start(), token.start()
            if depth == 0:
                rest = token.end()
                spans.append((start, rest))
    return spans, None, rest
