"""The records of a TORCH_TRACE log: a line with a JSON object each, and a text in the indented lines after it.

Source: `trace_structured` and `TorchLogsFormatter` of torch/_logging/_internal.py, torch 2.6 to 2.15.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

LONGEST: Final = 64 << 20
"""Bytes of one record's text, or of its line; what is longer is left out and counted."""
_ENVELOPE: Final = frozenset(
    {"compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "has_payload", "stack", "rank", "process",
     "thread", "pathname", "lineno", "timestamp"}
)  # fmt: skip
"""What stands beside the record itself."""
_NAMED: Final = frozenset({"artifact", "graph_dump"})
"""Kinds whose records have a name of their own."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record."""

    kind: str
    """torch's: `dynamo_start`, `artifact`, `chromium_event`."""
    name: str
    """Of an artifact or a graph dump; else empty."""
    value: Any
    """What the line says of it."""
    compile_id: str
    """torch's, `0/0`; empty for a record of no compile."""
    attempt: int
    rank: int | None
    stack: list[Any]
    """The frames around a compile without a frame of Dynamo's."""
    payload: bytes
    """Its text, as torch was given it."""

    @property
    def text(self) -> str:
        """The text; bytes that are no UTF-8 are replaced."""
        return self.payload.decode("utf-8", "replace")

    @property
    def what(self) -> str:
        """What its kind is called in a count: `artifact fx_graph_runnable`."""
        return f"{self.kind} {self.name}" if self.name else self.kind


@dataclass
class Unread:
    """What could not be read of a log."""

    lines: Counter[str] = field(default_factory=Counter)
    """Why → how many lines: `not in this format`, `truncated JSON`, `too long`."""


def decoded(record: Record, unread: Unread) -> Any:
    """What the record's text is as JSON; None where it is torn, which is counted."""
    try:
        return msgspec.json.decode(record.payload)
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        unread.lines[f"truncated text of {record.what}"] += 1
        return None


def records(lines: Iterable[bytes], unread: Unread, names: dict[int, str]) -> Iterator[Record]:
    """The records in a log's lines, in order; `names` gets the file names that they number, before they are used."""
    decode = msgspec.json.Decoder().decode
    head: dict[str, Any] | None = None
    payload: list[bytes] = []
    size = 0
    for line in lines:
        if line.startswith(b"\t"):
            if head is None:
                continue  # of a record that could not be read
            size += len(line)
            if size > LONGEST:
                unread.lines["too long"] += 1
                continue
            payload.append(line[1:])
            continue
        if head is not None:
            yield from _record(head, payload, names, unread)
        head, payload, size = None, [], 0
        start = line.find(b"{")
        if start < 0 or len(line) > LONGEST:
            if line.strip():
                unread.lines["not in this format" if start < 0 else "too long"] += 1
            continue
        try:
            found = decode(line[start:])
        except (ValueError, RecursionError):  # also of bytes that are no UTF-8
            unread.lines["truncated JSON"] += 1
            continue
        if isinstance(found, dict):
            head = found
    if head is not None:
        yield from _record(head, payload, names, unread)


def _record(head: dict[str, Any], payload: list[bytes], names: dict[int, str], unread: Unread) -> Iterator[Record]:
    kind = next((key for key in head if key not in _ENVELOPE), "")
    value = head.get(kind)
    if kind == "str":
        match value:
            case [str(file), int(number)]:
                names[number] = file
    if not kind:
        unread.lines["no record in it"] += 1
        return
    title: Any = value.get("name") if kind in _NAMED and isinstance(value, dict) else ""
    text = b"".join(payload)
    rank, stack, attempt = head.get("rank"), head.get("stack"), head.get("attempt")
    yield Record(
        kind=kind,
        name=title if isinstance(title, str) else "",
        value=value,
        compile_id=_compile_id(head),
        attempt=attempt if type(attempt) is int else 0,
        rank=rank if type(rank) is int else None,
        stack=stack if isinstance(stack, list) else [],
        payload=text[:-1] if text.endswith(b"\n") else text,
    )


def _compile_id(head: dict[str, Any]) -> str:
    """As torch prints it: `0/0`, of compiled autograd `!0/0/0`."""
    autograd, frame, number = (head.get(key) for key in ("compiled_autograd_id", "frame_id", "frame_compile_id"))
    if type(frame) is not int or type(number) is not int:
        return "" if type(autograd) is not int else f"!{autograd}"
    return f"{frame}/{number}" if type(autograd) is not int else f"!{autograd}/{frame}/{number}"
