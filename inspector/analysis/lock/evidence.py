"""Where in the program a label of a contract comes from, and why it is there, as the dump shows it."""

from collections.abc import Iterable
from hashlib import blake2b

import msgspec

from inspect_compile.facts import Location
from inspect_compile.knowledge.frontend.own_code import own_line


class Evidence(msgspec.Struct, frozen=True):
    """One label in one frame or graph."""

    where: Location | None = None
    why: str = ""


class Loop(msgspec.Struct, frozen=True):
    """One loop nest: a scheduler node after fusion."""

    graph: str
    """The graph in the dump."""
    name: str
    operators: tuple[str, ...]
    lines: tuple[Location, ...]


class Apart(msgspec.Struct, frozen=True):
    """Two loop nests that share bytes and are apart."""

    graph: str
    a: str
    b: str
    why: str


Labels = dict[str, Evidence]
Key = tuple[str, str, str]
"""Name of a frame or graph in the dump, metric, label."""


def own(where: Location | None) -> Location | None:
    """The user's own line that led to a line; the line itself if none is known."""
    return None if where is None else own_line(where) or where


def digest(text: str, size: int = 3) -> str:
    """A short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=size).hexdigest()


def digests(lines: Iterable[Location]) -> dict[str, Location]:
    """Digest of a line's code → the line."""
    return {digest(" ".join(line.code.split())): line for line in lines if line.code}
