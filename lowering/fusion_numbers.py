"""The numbers behind refusals of the scheduler that tell none. Asked for refused pairs only."""

from collections.abc import Callable
from typing import Any, Final

from inspect_compile.lowering.scopes import torch_object
from inspect_compile.torch_compat import inductor as names

FARTHEST: Final = 64
"""torch's limit in Scheduler.are_long_distant_nodes, 2.11-2.15."""
FACTOR: Final = 32
"""torch's factor in Scheduler.can_fusion_increase_peak_memory, 2.11-2.15."""

Numbers = tuple[tuple[str, int], ...]


class Asked:
    """A refused pair, and what a round keeps to answer for the next one."""

    __slots__ = ("kept", "one", "other", "scheduler", "shared")

    def __init__(self, scheduler: Any, one: Any, other: Any, shared: int | None, kept: dict[str, Any]) -> None:
        self.scheduler, self.one, self.other, self.shared = scheduler, one, other, shared
        self.kept = kept
        """Node → what a fusion would not give back for reuse, setting → its value; of one round, plain values only."""

    def setting(self, name: str) -> int:
        """A setting of Inductor: dear to ask for."""
        if name not in self.kept:
            self.kept[name] = int(getattr(torch_object(names.CONFIG), name))
        return int(self.kept[name])


def _distance(asked: Asked) -> Numbers:
    one, other = asked.one, asked.other
    distance = max(abs(one.min_order - other.max_order), abs(other.min_order - one.max_order))
    return ("distance", distance), ("limit", FARTHEST)


def _peak_memory(asked: Asked) -> Numbers:
    common = _reused(asked, asked.one) & _reused(asked, asked.other)
    overhead = sum(int(key[2]) for key in common)
    saved = () if asked.shared is None else (("saved", asked.shared),)
    return ("overhead", overhead), *saved, ("factor", FACTOR)


def _reused(asked: Asked, node: Any) -> set[tuple[str, str, str]]:
    """What only this node reads and has the memory that a later buffer could take."""
    name = node.get_name()
    found: set[tuple[str, str, str]] | None = asked.kept.get(name)
    if found is None:
        key = torch_object(names.REUSE_KEY)
        buffers = (asked.scheduler.name_to_buf.get(read.name) for read in node.read_writes.reads)
        keys = (
            key(buffer.node)
            for buffer in buffers
            if buffer is not None and len(buffer.users) == 1 and buffer.node.has_tensor_output()
        )
        found = asked.kept[name] = {(str(part[0]), str(part[1:2] + part[3:]), str(part[2])) for part in keys}
    return found


def _threshold(asked: Asked) -> Numbers:
    score = () if asked.shared is None else (("score", asked.shared),)
    return *score, ("threshold", asked.setting("score_fusion_memory_threshold"))


def _size(asked: Asked) -> Numbers:
    sizes = (len(node.get_nodes()) for node in (asked.one, asked.other))
    return *zip(("size_a", "size_b"), sizes, strict=True), ("limit", asked.setting("max_fusion_size"))


def _buffers(asked: Asked) -> Numbers:
    """How many it would have: the least number that torch does not find too many."""
    limit = asked.setting("max_fusion_unique_io_buffers")
    most = len(asked.one.used_buffer_names()) + len(asked.other.used_buffer_names())
    low = limit + 1
    while low < most:
        middle = (low + most) // 2
        if asked.scheduler.fusion_prevent_too_many_reads_and_writes(asked.one, asked.other, middle):
            low = middle + 1
        else:
            most = middle
    return ("buffers", low), ("limit", limit)


_OF: Final[dict[str, Callable[[Asked], Numbers]]] = {
    "Nodes are too far away. Fusing them may increase peak memory.": _distance,
    "Fusion will increase peak memory": _peak_memory,
    "score_fusion_memory_threshold": _threshold,
    "exceeds max fusion": _size,
    "fusion_prevent_too_many_reads_and_writes": _buffers,
}
"""torch's words → what gives the numbers."""


def has_numbers(template: str) -> bool:
    """Is it a refusal with numbers that torch does not tell?"""
    return template in _OF


def numbers_of(template: str, asked: Asked) -> Numbers:
    """The numbers, by names."""
    return _OF[template](asked)
