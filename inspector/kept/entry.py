"""What is kept of one compile of AOTAutograd's, and its form in a file: checksum, then zlib of MessagePack."""

import hashlib
import posixpath
import zlib
from typing import Final

import msgspec

from inspect_compile.dump import paths
from inspect_compile.facts import TABLES, Binary, CallSite, Location, Tuning
from inspect_compile.facts.base import Int64

MAGIC: Final = b"inspect-compile kept 1 "
_DIGEST: Final = 64
MOST_BYTES: Final = 256 << 20
"""Maximum size of an entry, unpacked and in a file."""

DECIDED: Final = (Binary.table, Tuning.table)
"""Tables in the folder of a graph that get rows when its kernels are first launched."""

TOP: Final = ("graphs", "passes", "joint_nodes", "calls", "remarks", "aot", "artifacts", "dynamo")
"""Tables at the top of a dump that have rows about the graphs of a compile, or about how it was made."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The facts, texts and code of the graphs that AOTAutograd made from one Dynamo graph.

    Rows are as in the dump that they were recorded in; what changes from run to run in them (names, source lines,
    numbers) is described here.
    """

    versions: tuple[str, ...]
    """Of everything that decides what is recorded."""
    key: str
    """torch's key of the compile."""
    content: str
    """sha256 of what torch stored under the key, in hex."""
    when: str
    """When it was compiled: `2026-11-25 14:33:09+00:00`."""
    compile_id: str
    aot_id: str
    """Common beginning of the names of its graphs: `model__0`."""
    graphs: tuple[str, ...]
    """Its outermost graphs, in the order in which they were compiled."""
    codes: tuple[str, ...]
    """sha256 of the generated code of each."""
    hints: tuple[str, ...]
    """The values of the symbolic sizes among the inputs, which no key holds."""
    nodes: tuple[tuple[str, Int64], ...]
    """The nodes of the Dynamo graph, and the index of each one's stack in `stacks`; -1 for none."""
    stacks: tuple[tuple[Location, ...], ...]
    caller: Location | None
    """The line that called the compiled function."""
    sites: tuple[CallSite, ...]
    """The calls that rows refer to, with those that led to them."""
    waits: tuple[str, ...]
    """Kernels that torch had not yet chosen a configuration for; an entry with any is not used."""
    files: tuple[tuple[str, bytes], ...]
    """Path in the dump → content, of tables and texts."""


class EntryError(ValueError):
    """An entry that is not whole, or not one of ours; says what is wrong with it."""


def packed(entry: Entry) -> bytes:
    """The entry as a file's content."""
    body = zlib.compress(msgspec.msgpack.encode(entry), 1)
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unpacked(data: bytes) -> Entry:
    """The entry in a file's content; raises EntryError."""
    head, body = data[: len(MAGIC) + _DIGEST + 1], data[len(MAGIC) + _DIGEST + 1 :]
    if not head.startswith(MAGIC) or not head.endswith(b"\n"):
        raise EntryError("it has another format")
    if hashlib.sha256(body).hexdigest().encode() != head[len(MAGIC) : -1]:
        raise EntryError("it is incomplete or damaged")
    unpack = zlib.decompressobj()
    try:
        plain = unpack.decompress(body, MOST_BYTES)
        if not unpack.eof:
            raise EntryError(f"it is larger than {MOST_BYTES:,} bytes")
        entry = msgspec.msgpack.decode(plain, type=Entry)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise EntryError(f"it cannot be read ({error})") from None
    if any(not -1 <= index < len(entry.stacks) for _, index in entry.nodes):
        raise EntryError("a node refers to a stack that is missing")
    for name, _ in entry.files:
        if not _is_own(name, entry.graphs):
            raise EntryError(f"it names a file that is not part of its graphs: {name[:200]!r}")
    return entry


def _is_own(name: str, graphs: tuple[str, ...]) -> bool:
    """Whether `name` is a table at the top, or lies in the folder of a graph."""
    if table_of(name) in TOP:
        return "/" not in name
    parts = name.split("/")
    folders = {paths.graph_folder(graph) for graph in graphs}
    return len(parts) > 2 and "/".join(parts[:2]) in folders and all(map(paths.is_safe, parts[2:]))


def table_of(name: str) -> str | None:
    """The table that a file of a dump is; None for a text."""
    stem, _, ending = posixpath.basename(name).partition(".")
    return stem if ending == "jsonl" and stem in TABLES else None
