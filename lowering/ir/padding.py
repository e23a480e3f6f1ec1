"""Finds buffers whose strides torch has padded."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from inspect_compile.lowering.core.scopes import Scope, torch_object
from inspect_compile.torch_compat import inductor as names


class Padded(NamedTuple):
    """A buffer that takes more memory than its elements need."""

    buffer: str
    node: str | None
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dense: tuple[int, ...]
    """Its strides without padding."""
    extra: int
    """Number of additional elements."""


def padded_buffers(scope: Scope, graph: Any) -> Iterator[Padded]:
    """The padded buffers of a GraphLowering whose layouts are decided. Symbolic layouts are skipped."""
    config = torch_object(names.CONFIG)
    if config is None or not config.comprehensive_padding:
        return
    for buffer in graph.buffers:
        layout: Any = getattr(buffer, "layout", None)
        if type(layout).__name__ != "FixedLayout" or type(buffer).__name__ not in ("ComputedBuffer", "TemplateBuffer"):
            continue
        size, stride = _plain(layout.size), _plain(layout.stride)
        if size is None or stride is None or len(size) < 2:
            continue
        dense = _dense(size, stride)
        align = config.padding_alignment_bytes // layout.dtype.itemsize
        changed = [index for index, step in enumerate(stride) if step != dense[index] and size[index] > 1]
        if align and changed and all(stride[index] > dense[index] and stride[index] % align == 0 for index in changed):
            extra = _room(size, stride) - _room(size, dense)
            yield Padded(buffer.get_name(), scope.own_node(buffer), size, stride, dense, extra)


def _plain(lengths: Sequence[Any]) -> tuple[int, ...] | None:
    found = [int(length) for length in lengths if type(length) is int or getattr(length, "is_Integer", False)]
    return tuple(found) if len(found) == len(lengths) else None


def _dense(size: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in the same order without gaps."""
    found, step = [0] * len(size), 1
    for index in sorted(range(len(size)), key=lambda index: (stride[index], size[index] > 1, -index)):
        found[index] = step
        step *= max(size[index], 1)
    return tuple(found)


def _room(size: tuple[int, ...], stride: tuple[int, ...]) -> int:
    return 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True)) if all(size) else 0
