"""What is behind the scheduler's refusals and torch does not print: numbers and reasons, for refused pairs only."""

from collections.abc import Callable
from typing import Any, Final

from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat import inductor as names

FARTHEST: Final = 64
"""torch's limit in Scheduler.are_long_distant_nodes, 2.11-2.15."""
FACTOR: Final = 32
"""torch's factor in Scheduler.can_fusion_increase_peak_memory, 2.11-2.15."""
WINDOW: Final = 64
"""How many following users of a buffer torch pairs a node with, 2.11-2.15, unless configured."""
MOST_BUFFERS: Final = 8
"""Maximum number of common buffers that are examined."""

Kept = dict[str, Any]
"""Cache of a round, for later pairs: node → what a fusion would no longer free for reuse, setting → value. Plain values
only.
"""
Of = Callable[[Any, Any, Any, int, Kept], tuple[int, ...]]
"""(scheduler, one, other, the pair's score, cache) → numbers."""


def _setting(kept: Kept, name: str) -> int:
    """A setting of Inductor, -1 if this torch does not have it: expensive to look up."""
    if name not in kept:
        kept[name] = int(getattr(torch_object(names.CONFIG), name, -1))
    found: int = kept[name]
    return found


def _distance(scheduler: Any, one: Any, other: Any, shared: int, kept: Kept) -> tuple[int, ...]:
    return max(abs(one.min_order - other.max_order), abs(other.min_order - one.max_order)), FARTHEST


def _peak_memory(scheduler: Any, one: Any, other: Any, shared: int, kept: Kept) -> tuple[int, ...]:
    common = _reused(scheduler, one, kept) & _reused(scheduler, other, kept)
    return sum(int(key[2]) for key in common), shared, FACTOR


def _reused(scheduler: Any, node: Any, kept: Kept) -> set[tuple[str, str, str]]:
    """Buffers that only this node reads and whose memory a later buffer could take."""
    name = node.get_name()
    found: set[tuple[str, str, str]] | None = kept.get(name)
    if found is None:
        key = torch_object(names.REUSE_KEY)
        buffers = (scheduler.name_to_buf.get(read.name) for read in node.read_writes.reads)
        keys = (
            key(buffer.node)
            for buffer in buffers
            if buffer is not None and len(buffer.users) == 1 and buffer.node.has_tensor_output()
        )
        found = kept[name] = {(str(part[0]), str(part[1:2] + part[3:]), str(part[2])) for part in keys}
    return found


def _threshold(scheduler: Any, one: Any, other: Any, shared: int, kept: Kept) -> tuple[int, ...]:
    return shared, _setting(kept, "score_fusion_memory_threshold")


def _size(scheduler: Any, one: Any, other: Any, shared: int, kept: Kept) -> tuple[int, ...]:
    return len(one.get_nodes()), len(other.get_nodes()), _setting(kept, "max_fusion_size")


def _buffers(scheduler: Any, one: Any, other: Any, shared: int, kept: Kept) -> tuple[int, ...]:
    """The number of buffers the fused node would have: the least number above torch's limit."""
    limit = _setting(kept, "max_fusion_unique_io_buffers")
    most = len(one.used_buffer_names()) + len(other.used_buffer_names())
    low = limit + 1
    while low < most:
        middle = (low + most) // 2
        if scheduler.fusion_prevent_too_many_reads_and_writes(one, other, middle):
            low = middle + 1
        else:
            most = middle
    return low, limit


NUMBERS: Final[dict[str, tuple[tuple[str, ...], Of]]] = {
    "Nodes are too far away. Fusing them may increase peak memory.": (("distance", "limit"), _distance),
    "Fusion will increase peak memory": (("overhead", "saved", "factor"), _peak_memory),
    "score_fusion_memory_threshold": (("score", "threshold"), _threshold),
    "exceeds max fusion": (("size_a", "size_b", "limit"), _size),
    "fusion_prevent_too_many_reads_and_writes": (("buffers", "limit"), _buffers),
}
"""torch's words → names of the numbers, and the function for them; -1 if torch did not compute the pair's score."""


Alike = dict[Any, str]
"""Two accesses of a buffer → torch's explanation with the buffer's name left out: layers of a model have the same."""


def fail_reason(scheduler: Any, a: Any, b: Any, alike: Alike) -> str:
    """torch's explanation why two scheduler nodes with a common buffer share no data (`decide_fusion_fail_reason`);
    empty if there is none, or it fails. `alike`: what it said in this graph so far.
    """
    try:
        # As in torch, the last of several accesses of a buffer.
        one, other = ({access.name: access for access in node.read_writes.reads_and_writes()} for node in (a, b))
        common = sorted(one.keys() & other.keys())[:MOST_BUFFERS]
        decide = getattr(scheduler, names.FAIL_REASON.attribute.rpartition(".")[2])
        reasons = (_reason(decide, a, b, name, (one[name], other[name]), alike) for name in common)
        return f"{{{', '.join(reasons)}}}" if common else ""
    except Exception as error:
        let_pass(error)
        return ""  # a buffer without loops or strides, which torch does not handle


def _reason(decide: Any, a: Any, b: Any, name: str, accesses: tuple[Any, Any], alike: Alike) -> str:
    """The explanation for one buffer, `'buf0': 'broadcast'`."""
    key, quoted = (_without_name(accesses[0]), _without_name(accesses[1])), repr(name)
    found = alike.get(key)
    if found is None:
        found = str(decide(a, b, (name,)))[1:-1].replace(quoted, _NAME)
        # What is read at computed places has the length of that buffer, and some words tell its layout.
        if _LAYOUT not in found and not any(type(one).__name__ == _INDEXED and one.is_indirect() for one in accesses):
            alike[key] = found
    return found.replace(_NAME, quoted)


def _without_name(access: Any) -> tuple[Any, ...]:
    """All that a MemoryDep, StarDep or WeakDep says but for the buffer."""
    if type(access).__name__ != _INDEXED:
        return (type(access),)
    return access.index, access.var_names, access.size, access.mode


_NAME: Final = "\0"
_LAYOUT: Final = "Layout: "
_INDEXED: Final = "MemoryDep"
