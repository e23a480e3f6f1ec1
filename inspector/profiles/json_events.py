"""The events of a Chrome trace, chunk by chunk: a file of any length takes the memory of one chunk.

A chunk is cut after the last text that looks like the end of an event, and decoded as a list. Successful decoding
proves the cut: one inside an event or a string leaves something open. If it fails, the chunk is scanned.
"""

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

import msgspec

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

    def batches(self) -> Iterator[list[T | None]]:
        """The events in order. Raises ValueError if the file is not a trace."""
        with _opened(self.path) as file:
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
                        self.around.tail = pending[end:] + file.read()
                        return
                    pending = pending[rest:]
                if len(pending) > MOST_PENDING:
                    raise ValueError(f"one event has more than {MOST_PENDING >> 20} MiB")
                chunk = file.read(CHUNK)
                if not chunk:
                    yield from self._last(pending)
                    return
                pending += chunk

    def _to_first(self, file: IO[bytes]) -> bytes:
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
        except (msgspec.DecodeError, RecursionError):
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


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else path.open("rb", buffering=0)  # type: ignore[return-value]


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
