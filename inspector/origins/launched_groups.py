"""Which scheduler nodes a kernel computes: a call is given what its group writes."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from msgspec.structs import replace

from inspect_compile.facts import Kernel, Operation, WrapperLine

_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_LONGEST_CHAIN: Final = 100
"""Maximum number of names that one piece of memory has in one kernel."""
_MOST_TRIES: Final = 10_000_000
"""Maximum number of times that a group is held against a call."""
_NO_CALL: Final = ("MultiOutput",)
"""Classes of extern operations that only name a part of what another one returned."""


class Joined(NamedTuple):
    """What belongs together."""

    kernels: list[Kernel]
    """With the operations and groups that they compute."""
    lines: list[WrapperLine]
    """With the buffers that library calls write."""
    operations: list[Operation]
    """With the FX nodes of those that are all that a kernel computes."""


def joined(kernels: Sequence[Kernel], lines: Sequence[WrapperLine], operations: Sequence[Operation]) -> Joined:
    """The kernels, wrapper lines and scheduler nodes of one graph, each with what the others say of it."""
    groups = [row for row in operations if row.phase == "post_fusion"]
    calls = {row.end: row for row in lines if row.what in ("launch", "extern") and row.end is not None}
    in_place = {row.buffer: row.becomes for row in lines if row.what == "reuse" and not row.is_planned}
    of_call = _groups_of_calls(groups, list(calls.values()), in_place)
    found: list[Kernel] = []
    for kernel in kernels:
        own = [group for line in kernel.launches if line in calls for group in of_call.get(line, ())]
        if kernel.kind == "extern" and not own:
            found.append(kernel)
            continue
        members = dict.fromkeys(member for group in own for member in group.members)
        names = tuple(dict.fromkeys(group.name for group in own))
        found.append(replace(kernel, operations=tuple(members), groups=names))
    return Joined(found, [_with_buffer(row, of_call) for row in lines], _with_nodes(operations, found))


def _groups_of_calls(
    groups: Sequence[Operation], calls: Sequence[WrapperLine], in_place: Mapping[str | None, str | None]
) -> dict[int, list[Operation]]:
    """Line of a call → the groups that it computes, `in_place`: buffer → the name that its memory gets in a kernel."""
    calling = [group for group in groups if group.kind != "nop" and group.ir_type not in _NO_CALL]
    makers = {buffer: group for group in calling for buffer in group.buffers}
    left = {group.name: group for group in calling}
    found: dict[int, list[Operation]] = {}
    for call in calls:
        named = [call.buffer or ""] if call.what == "extern" else _NAME.findall(" ".join(call.arguments))
        given = dict.fromkeys(makers[name].name for name in named if name in makers)
        own = [
            left[name] for name in given if name in left and (left[name].kind == "extern") == (call.what == "extern")
        ]
        for group in own:
            del left[group.name]
        found[call.end or 0] = own
    for call in calls:
        if call.what == "extern" and not found[call.end or 0]:
            same = next((group for group in left.values() if group.extern_kernel == call.kernel), None)
            if same is not None:
                found[call.end or 0] = [left.pop(same.name)]
    _add_left(list(left.values()), [call for call in calls if call.what == "launch"], in_place, found)
    return {line: sorted(own, key=lambda group: group.order) for line, own in found.items()}


def _add_left(
    left: Sequence[Operation],
    launches: Sequence[WrapperLine],
    in_place: Mapping[str | None, str | None],
    found: dict[int, list[Operation]],
) -> None:
    """Add the groups whose own buffers no call is given: what they write has another name there.

    Groups are called in their order, so that the call is between those of the groups before and after.
    """
    assigned = sorted((group.order, line) for line, own in found.items() for group in own)
    lasts = list(accumulate((line for _, line in reversed(assigned)), min))[::-1]
    lines = [launch.end or 0 for launch in launches]
    names = [set(_NAME.findall(" ".join(launch.arguments))) for launch in launches]
    first, position, tries = 0, 0, _MOST_TRIES
    for group in sorted(left, key=lambda group: group.order):
        while position < len(assigned) and assigned[position][0] < group.order:
            first = max(first, assigned[position][1])
            position += 1
        last = lasts[position] if position < len(lasts) else None
        written = _written(group, in_place)
        for index in range(bisect_left(lines, first), len(lines)):
            tries -= 1
            if not tries or (last is not None and lines[index] > last):
                break
            if written & names[index]:
                found.setdefault(lines[index], []).append(group)
                first = lines[index]
                break
        if not tries:
            return


def _written(group: Operation, in_place: Mapping[str | None, str | None]) -> set[str]:
    """All names of what the group writes."""
    written = set(group.buffers) | {write.into for write in group.writes if write.into}
    for name in group.buffers:
        for _ in range(_LONGEST_CHAIN):
            if (other := in_place.get(name)) is None:
                break
            written.add(other)
            name = other
    return written


def _with_buffer(row: WrapperLine, of_call: dict[int, list[Operation]]) -> WrapperLine:
    if row.what != "extern" or row.buffer is not None:
        return row
    buffers = [buffer for group in of_call.get(row.end or 0, ()) for buffer in group.buffers]
    return replace(row, buffer=buffers[0]) if len(buffers) == 1 else row


def _with_nodes(operations: Sequence[Operation], kernels: Sequence[Kernel]) -> list[Operation]:
    alone = {kernel.groups[0]: kernel.nodes for kernel in kernels if len(kernel.groups) == 1}
    single = {kernel.operations[0]: kernel.nodes for kernel in kernels if len(kernel.operations) == 1}
    return [
        replace(row, nodes=(alone if row.phase == "post_fusion" else single).get(row.name, ())) for row in operations
    ]
