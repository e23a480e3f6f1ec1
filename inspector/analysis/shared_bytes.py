"""The buffers that two scheduler nodes both touch, and the bytes that fusing the two would save."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from inspect_compile.analysis.buffer_traffic import BufferSums
from inspect_compile.analysis.kernel_traffic import LaunchTraffic, launch_traffic
from inspect_compile.analysis.savings import Savings, Touches
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Kernel, Operation

_WINDOW: Final = 64
"""Number of later nodes at the same buffer that a node is paired with: a buffer with thousands of readers has millions
of pairs.
"""


class Common(msgspec.Struct, frozen=True):
    """The buffers that two scheduler nodes both touch."""

    saved: int
    """Bytes that the two launches would no longer move as one: the second read of what both read; of what one passes to
    the other the read, and the write if nobody else needs it. Counted like `show traffic`, each element once; two loops
    of one launch count as if each were a launch.
    """
    buffers: tuple[str, ...]
    """Most bytes first."""
    handed: tuple[str, ...]
    """Buffers that the first writes and the second reads."""
    is_unsure: bool = False
    """True if the saving depends on values, as when both gather rows of one table: it is then an upper bound."""


class SharedBytes:
    """The scheduler nodes of one graph, before or after fusion."""

    def __init__(
        self,
        operations: Iterable[Operation],
        outputs: frozenset[str],
        touches: Mapping[str, Touches],
        launches: Mapping[str, int],
    ) -> None:
        """`touches` says what each node moves, `launches` which call runs it; before fusion there are no launches."""
        self.rows = {row.name: row for row in operations}
        self.savings = Savings(touches, launches)
        self._touches = touches
        self._outputs = outputs
        self._reads = {name: _buffers(row.reads) for name, row in self.rows.items()}
        self._writes = {name: _buffers(row.writes) for name, row in self.rows.items()}
        self._users: dict[str, set[str]] = {}
        for name, reads in self._reads.items():
            for buffer in reads:
                self._users.setdefault(buffer, set()).add(name)

    def of(self, a: str, b: str) -> Common:
        """What `a` and `b` share; `a` is the earlier one."""
        if self.rows[a].order > self.rows[b].order:
            a, b = b, a
        handed = self._writes[a].keys() & self._reads[b].keys()
        both = (self._reads[a].keys() & self._reads[b].keys()) - handed
        inner = {one for one in handed if one not in self._outputs and self._users.get(one, set()) <= {a, b}}
        is_nothing = "nop" in (self.rows[a].kind, self.rows[b].kind)  # other rows of the buffer they share
        saved = {} if is_nothing else self.savings.of(a, b, frozenset(both), frozenset(handed), frozenset(inner))
        gathered = {one for one in both if self._is_gathered(a, one) and self._is_gathered(b, one)}
        order = sorted((*both, *handed), key=lambda name: (-saved.get(name, 0), name))
        return Common(
            max(0, sum(saved.values())),
            tuple(order),
            tuple(name for name in order if name in handed),
            any(saved.get(one, 0) > 0 for one in gathered),
        )

    def _is_gathered(self, name: str, buffer: str) -> bool:
        read = self._touches[name].reads.get(buffer)
        return read is not None and read.is_by_value

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
    """The scheduler nodes of `graph`, without its nested graphs; a node without members is not torch's."""
    found = (row for row in dump.rows(Operation, graph) if row.graph == graph and row.phase == phase)
    rows = [row for row in found if row.members]
    traffic = launch_traffic(dump, graph.partition("/")[0])
    launches: dict[str, int] = {}
    kernels: dict[str, Kernel] = {}
    for place, launch in enumerate(traffic.launches if phase == "post_fusion" else ()):
        if launch.graph == graph:
            launches.update((group, place) for group in launch.groups)
            kernels.update((group, launch.kernel) for group in launch.groups)
    makers = {buffer: row.name for row in rows for buffer in row.buffers}
    parts: dict[str, set[str]] = {}
    touches: dict[str, Touches] = {}
    for row in rows:
        if row.ir_type == "MultiOutput" and row.reads:  # an element of what a call returns, which the call writes
            maker = makers.get(row.reads[0].buffer, row.name)
            parts.setdefault(maker, set()).update(row.buffers)
            if maker in launches:
                launches[row.name] = launches[maker]
            touches[row.name] = _of_part(traffic, row)
        elif phase == "post_fusion":
            kernel = kernels.get(row.name)
            kind, name = ("", "") if kernel is None else (kernel.kind, kernel.name)
            touches[row.name] = Touches.of(traffic.groups.sums([row], kind, name))
        else:
            touches[row.name] = Touches.of(traffic.groups.sums_alone(row))
    for maker, theirs in parts.items():
        own = touches[maker]
        touches[maker] = own._replace(writes={one: what for one, what in own.writes.items() if one not in theirs})
    return SharedBytes(rows, _outputs(dump, graph), touches, launches)


def _of_part(traffic: LaunchTraffic, row: Operation) -> Touches:
    found = BufferSums(traffic.groups.places)
    for access in row.writes:
        found.whole(access.buffer, traffic.groups.sizes.of(row.graph, access), read=False, is_unsure=False)
    return Touches.of(found)


def _outputs(dump: Dump, graph: str) -> frozenset[str]:
    """Buffers that the graph returns."""
    return frozenset(
        buffer
        for row in dump.rows(Operation, graph)
        if row.graph == graph and "OUTPUT" in row.users
        for buffer in row.buffers
    )


def _buffers(accesses: Iterable[Access]) -> dict[str, None]:
    """Buffers that are really touched: some accesses only keep the order."""
    return {access.buffer: None for access in accesses if access.kind != "weak"}
