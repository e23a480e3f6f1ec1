"""What two scheduler nodes both touch, and the bytes that would not be moved if they were one."""

from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Operation

_WINDOW: Final = 64
"""Later nodes at the same buffer that one is paired with: a buffer that thousands read has millions of pairs."""


class Common(msgspec.Struct, frozen=True):
    """The buffers that two scheduler nodes both touch."""

    saved: int
    """Bytes that one node in the place of two need not move: the second read of what both read, the read of what the
    one hands the other, and the write of it where nobody else needs it."""
    buffers: tuple[str, ...]
    """The dearest first."""
    handed: tuple[str, ...]
    """Those that the first writes and the second reads."""


class SharedBytes:
    """The scheduler nodes of one graph, as they are before or after fusion."""

    def __init__(self, operations: Iterable[Operation], outputs: frozenset[str]) -> None:
        self.rows = {row.name: row for row in operations}
        self._outputs = outputs
        self._reads = {name: _largest(row, read=True) for name, row in self.rows.items()}
        self._writes = {name: _largest(row, read=False) for name, row in self.rows.items()}
        self._users: dict[str, list[str]] = {}
        for name, reads in self._reads.items():
            for buffer in reads:
                self._users.setdefault(buffer, []).append(name)

    def of(self, a: str, b: str) -> Common:
        """What `a` and `b` share; `a` is the earlier one."""
        if self.rows[a].order > self.rows[b].order:
            a, b = b, a
        handed = self._writes[a].keys() & self._reads[b].keys()
        both = (self._reads[a].keys() & self._reads[b].keys()) - handed
        saved = {buffer: min(self._reads[a][buffer], self._reads[b][buffer]) for buffer in both}
        for buffer in handed:
            is_inner = buffer not in self._outputs and set(self._users[buffer]) <= {a, b}
            saved[buffer] = self._reads[b][buffer] + (self._writes[a][buffer] if is_inner else 0)
        order = sorted(saved, key=lambda name: (-saved[name], name))
        return Common(sum(saved.values()), tuple(order), tuple(name for name in order if name in handed))

    def pairs(self) -> dict[tuple[str, str], None]:
        """The pairs that touch a common buffer, the earlier node first."""
        touching: dict[str, dict[str, None]] = {}
        for name in sorted(self.rows, key=lambda one: self.rows[one].order):
            for buffer in (*self._reads[name], *self._writes[name]):
                touching.setdefault(buffer, {})[name] = None
        found: dict[tuple[str, str], None] = {}
        for names in touching.values():
            listed = list(names)
            for index, name in enumerate(listed):
                found.update(((name, other), None) for other in listed[index + 1 : index + 1 + _WINDOW])
        return found


def shared_bytes(dump: Dump, graph: str, phase: str = "post_fusion") -> SharedBytes:
    """Those of `graph` alone, without the graphs nested in it; one without members is none of torch's."""
    found = (row for row in dump.rows(Operation, graph) if row.graph == graph and row.phase == phase)
    rows = (row for row in found if row.members)
    return SharedBytes(rows, _outputs(dump, graph))


def _outputs(dump: Dump, graph: str) -> frozenset[str]:
    """Buffers that the graph hands out."""
    return frozenset(
        buffer
        for row in dump.rows(Operation, graph)
        if row.graph == graph and "OUTPUT" in row.users
        for buffer in row.buffers
    )


def _largest(row: Operation, *, read: bool) -> dict[str, int]:
    """Buffer → the bytes of its largest access, those that only keep the order left aside."""
    found: dict[str, int] = {}
    for access in row.reads if read else row.writes:
        if access.kind != "weak":
            found[access.buffer] = max(found.get(access.buffer, 0), access.bytes or 0)
    return found
