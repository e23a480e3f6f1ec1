"""The buffers that two scheduler nodes both touch, and the bytes that fusing the two would save."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

import msgspec

from inspect_compile.analysis.fusion.savings import Savings, Touches
from inspect_compile.facts import Access, Kernel, Operation
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.graph.cost.buffer_traffic import BufferSums
from inspect_compile.graph.cost.kernel_traffic import LaunchTraffic
from inspect_compile.graph.rows import Phase

_MOST_PAIRS: Final = 4096
_LEAST_WINDOW: Final = 2
"""A buffer that thousands read has millions of pairs: each of its nodes is paired with so many later ones that there
are about so many pairs in all, with these at least, and with the one that writes it."""
_CALLS: Final = ("extern", "nop")


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
    """True if the saving depends on values, as when one of them gathers rows: it is then an upper bound."""


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
        unsure = {one for one in both if self._is_unsure(a, one) or self._is_unsure(b, one)}
        unsure |= {one for one in handed if self._is_unsure(b, one)}
        order = sorted((*both, *handed), key=lambda name: (-saved.get(name, 0), name))
        return Common(
            max(0, sum(saved.values())),
            tuple(order),
            tuple(name for name in order if name in handed),
            any(saved.get(one, 0) > 0 for one in unsure),
        )

    def _is_unsure(self, name: str, buffer: str) -> bool:
        read = self._touches[name].reads.get(buffer)
        return read is not None and read.unsure > 0

    def pairs(self) -> dict[tuple[str, str], None]:
        """The pairs that touch a common buffer, the earlier node first; not all of those at a buffer that many touch.

        Those that are there join all that would: each node is paired with the next, with the next that is no call, and
        with the next that touches the same elements.
        """
        found: dict[tuple[str, str], None] = {}
        for buffer, listed in self._touching.items():
            window = _window(len(listed))
            lists = [listed]
            if len(listed) > window + 1:
                loops = [name for name in listed if self.rows[name].kind not in _CALLS]
                lists += [loops, *self._alike(buffer, loops)]
                made = next((place for place, name in enumerate(listed) if buffer in self._writes[name]), len(listed))
                found.update(((listed[made], name), None) for name in listed[made + 1 :])
            for names in lists:
                for index, name in enumerate(names):
                    found.update(((name, other), None) for other in names[index + 1 : index + 1 + window])
        return found

    def _alike(self, buffer: str, names: Iterable[str]) -> Iterable[list[str]]:
        """Those of `names` that touch the same elements of it, in their order."""

        def own(name: str) -> tuple[Access, ...]:
            row = self.rows[name]
            return tuple(one for one in (*row.reads, *row.writes) if one.buffer == buffer)

        return grouped(names, own).values()

    @property
    def left_out(self) -> dict[str, tuple[int, int]]:
        """Buffer of which not all pairs are there → how many nodes touch it, and with how many each is paired."""
        sizes = {buffer: len(names) for buffer, names in self._touching.items()}
        return {one: (size, _window(size)) for one, size in sizes.items() if size > _window(size) + 1}

    @cached_property
    def _touching(self) -> dict[str, list[str]]:
        found: dict[str, dict[str, None]] = {}
        for name in sorted(self.rows, key=lambda one: self.rows[one].order):
            for buffer in (*self._reads[name], *self._writes[name]):
                found.setdefault(buffer, {})[name] = None
        return {buffer: list(names) for buffer, names in found.items()}


def _window(count: int) -> int:
    """How many later nodes each of `count` nodes at a buffer is paired with."""
    return max(_LEAST_WINDOW, min(count - 1, _MOST_PAIRS // max(count, 1)))


def shared_bytes(graph: CompiledGraph, phase: Phase = "post_fusion") -> SharedBytes:
    """The scheduler nodes of `graph`, without its nested graphs; a node without members is not torch's."""
    rows = [row for row in graph.own(graph.operations if phase == "pre_fusion" else graph.groups) if row.members]
    traffic = graph.outermost.traffic
    launches: dict[str, int] = {}
    kernels: dict[str, Kernel] = {}
    for place, launch in enumerate(traffic.launches if phase == "post_fusion" else ()):
        if launch.graph == graph.name:
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
            touches[row.name] = Touches.of(traffic.groups.alone(row))
    for maker, theirs in parts.items():
        own = touches[maker]
        touches[maker] = own._replace(writes={one: what for one, what in own.writes.items() if one not in theirs})
    return SharedBytes(rows, _outputs(graph), touches, launches)


def _of_part(traffic: LaunchTraffic, row: Operation) -> Touches:
    found = BufferSums(traffic.groups.places)
    for access in row.writes:
        found.whole(access.buffer, traffic.groups.sizes.of(row.graph, access), read=False, is_unsure=False)
    return Touches.of(found)


def _outputs(graph: CompiledGraph) -> frozenset[str]:
    """Buffers that the graph returns."""
    return frozenset(
        buffer
        for row in graph.rows(Operation)
        if row.graph == graph.name and "OUTPUT" in row.users
        for buffer in row.buffers
    )


def _buffers(accesses: Iterable[Access]) -> dict[str, None]:
    """Buffers that are really touched: some accesses only keep the order."""
    return {access.buffer: None for access in accesses if access.kind != "weak"}
