"""Which graph a call belongs to where one compile made several, as DistributedDataParallel makes one for each bucket.

Their kernels often have the same names. A compiled frame calls its graphs one after the other, in the order in which
they were compiled, and a backward belongs to the graph whose forward autograd recorded it in.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from inspect_compile.analysis.runtime.call_alignment import aligned
from inspect_compile.analysis.runtime.host_order import GraphCall
from inspect_compile.analysis.runtime.launch_plan import Plan
from inspect_compile.graph import aot_prefix, grouped

_BACKWARD: Final = "backward"


def graphs_of_calls(calls: Iterable[GraphCall], plans: Sequence[Plan]) -> dict[GraphCall, Plan]:
    """Call → its graph, for the calls whose position decides it. Their kernels may decide the others."""
    of_region: dict[str, dict[str, list[Plan]]] = defaultdict(lambda: defaultdict(list))
    """The profile's name of the compile → the compiles with that id, each with its graphs."""
    backwards: dict[str, list[Plan]] = defaultdict(list)
    for plan in plans:
        if plan.kind == _BACKWARD:
            backwards[aot_prefix(plan.graph)].append(plan)
        elif plan.compile_id is not None:
            of_region[plan.region or ""][plan.compile_id].append(plan)
    found: dict[GraphCall, Plan] = {}
    checked: dict[tuple[int, tuple[str, ...]], bool] = {}
    regions: dict[int, list[GraphCall]] = defaultdict(list)
    later: list[GraphCall] = []
    for call in calls:
        if call.is_backward:
            later.append(call)
        elif call.region and call.compile_id is not None:
            regions[call.region].append(call)
    alike = {name: _by_kernels(compiles.values()) for name, compiles in of_region.items()}
    for own in regions.values():
        compiles = alike.get(own[0].compile_id or "", {})
        if all(call.operators for call in own):
            kernels = tuple(_kernels(call.operators) for call in own)
            near = itertools.chain(compiles.get(kernels, ()), compiles.get(None, ()))
        else:
            near = itertools.chain.from_iterable(compiles.values())
        fits = (
            there
            for there in near
            if len(there) == len(own) and all(_fits(*pair, checked) for pair in zip(there, own, strict=True))
        )
        one = next(fits, None)
        if one is not None and next(fits, None) is None:
            found.update(zip(own, one, strict=True))
    for call in later:
        forward = found.get(call.forward) if call.forward is not None else None
        pair = aot_prefix(forward.graph) if forward is not None else ""
        partners = backwards.get(pair, []) if pair else []
        if len(partners) == 1 and _fits(partners[0], call, checked):
            found[call] = partners[0]
    return found


_Kernels = tuple[tuple[str, str], ...]
"""Kind and number of each kernel, which another release of torch names with other words between them."""


def _by_kernels(compiles: Iterable[list[Plan]]) -> dict[tuple[_Kernels, ...] | None, list[list[Plan]]]:
    """The compiles by what each of their graphs launches; None for those whose nested graphs run in any order."""
    return grouped(
        compiles,
        lambda there: None if any(plan.is_nested for plan in there) else tuple(_kernels(plan.hosts) for plan in there),
    )


def _kernels(names: Iterable[str]) -> _Kernels:
    """Those that are in both, the profile and the plan, if the call is of the graph. Of C++ kernels some may not be."""
    fused = (name.partition("_fused_") for name in names)
    return tuple((kind, words.rpartition("_")[2]) for kind, is_fused, words in fused if is_fused and kind != "cpp")


def _fits(plan: Plan, call: GraphCall, checked: dict[tuple[int, tuple[str, ...]], bool]) -> bool:
    """True if the call can be of this graph. A replay of a CUDA graph has no operators, and fits any graph."""
    key = id(plan), tuple(call.operators)
    if key not in checked:
        checked[key] = not call.operators or list(plan.hosts) == call.operators or bool(aligned(plan, call.operators))
    return checked[key]
