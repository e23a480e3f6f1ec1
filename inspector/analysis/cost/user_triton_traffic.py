"""Bytes of launches of the user's Triton kernels: of the arguments that their TTIR loads and stores."""

from inspect_compile.analysis.cost.buffer_traffic import BufferSums
from inspect_compile.analysis.cost.group_traffic import GroupTraffic
from inspect_compile.analysis.kernels.launches import USER_TRITON, Launch
from inspect_compile.analysis.kernels.user_triton_kernels import OwnKernels, OwnWork
from inspect_compile.dump import Dump


def own_traffic(dump: Dump, graph: str, found: list[Launch], groups: GroupTraffic) -> None:
    """Add to `groups` what the launches in `found` touch, where the dump says it."""
    own = OwnKernels(dump, graph)
    for launch in found:
        if launch.kernel.kind == USER_TRITON and len(launch.groups) == 1:
            sums = _touched(launch, own.of(launch), groups)
            if sums is not None:
                groups.told[launch.graph, launch.groups[0]] = sums


def _touched(launch: Launch, own: OwnWork, groups: GroupTraffic) -> BufferSums | None:
    row = groups.after.get((launch.graph, launch.groups[0]))
    if row is None or own.reads is None or own.writes is None:
        return None
    sizes: dict[str, int] = {}
    for access in row.reads:
        home = groups.sizes.home(row.graph, access.buffer)
        sizes[home] = max(sizes.get(home, 0), groups.sizes.of(row.graph, access) or 0)
    found = BufferSums(groups.places)
    for places, is_read in ((own.reads, True), (own.writes, False)):
        for place in sorted(places):
            name = launch.arguments[place] if place < len(launch.arguments) else ""
            home = groups.sizes.home(row.graph, name)
            if home not in sizes:
                return None  # a part of a buffer, for example
            found.whole(home, sizes[home], read=is_read, is_unsure=False)
    return found
