"""Why torch chose, or refused, channels-last memory for the convolutions of a graph.

torch keeps only its answer. The reason is found by repeating its checks in its order; if they give another answer, no
reason is given.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from inspect_compile.knowledge.lowering.layouts import MOST_NODES, MULTIPLIERS, SMALL
from inspect_compile.lowering.core.fx_nodes import target_name
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.lowering.ir import flops
from inspect_compile.torch_compat import inductor as names
from inspect_compile.torch_compat.frames import COUNTS_BACKWARD

_CONVOLUTION = "aten.convolution.default"
_BACKWARD = "aten.convolution_backward.default"


class LayoutDecision(NamedTuple):
    """What torch decided, and why."""

    taken: bool
    reason: str
    numbers: dict[str, float | int | str]
    knob: str
    convolutions: tuple[str, ...]


def layout_decision(graph: Any) -> LayoutDecision | None:
    """The decision for a GraphLowering; None if it has no convolution, so that there was nothing to decide."""
    nodes = graph.module.graph.nodes
    taken = bool(graph.layout_opt)
    found = _convolutions(nodes)
    if not found:
        return None
    decided, reason, numbers, knob = _decided(graph, found, len(nodes))
    if decided != taken:
        reason, numbers, knob = "torch does not say by what", {}, _OFF if taken else _FORCE
    numbers = {"convolutions": len(found), **numbers}
    return LayoutDecision(taken, reason, numbers, knob, tuple(node.name for node in found))


def _convolutions(nodes: Any) -> list[Any]:
    is_fused = torch_object(names.IS_MKLDNN_CONVOLUTION)
    operators = (_CONVOLUTION, _BACKWARD) if _counts_backward() else (_CONVOLUTION,)
    called = [node for node in nodes if node.op == "call_function"]
    found = [node for node in called if target_name(node.target) in operators]
    return found + [node for node in called if is_fused is not None and is_fused(node)]


_Decided = tuple[bool, str, dict[str, float | int | str], str]
_OFF = "torch._inductor.config.layout_optimization"
_FORCE = "torch._inductor.config.force_layout_optimization"


def _decided(graph: Any, found: list[Any], nodes: int) -> _Decided:
    config = torch_object(names.CONFIG)
    if config is None:
        return bool(graph.layout_opt), "by what is not known", {}, _OFF
    if not config.layout_optimization:
        return False, "layout_optimization is off", {}, _OFF
    if config.force_layout_optimization:
        return True, "force_layout_optimization is on", {}, _FORCE
    values = [_values(node) for node in found]
    if _has_mkldnn({value.device.type for pair in values for value in pair}):
        return True, "with oneDNN it is always faster", {}, _OFF
    if nodes >= MOST_NODES * len(found):
        reason = f"only {len(found)} of {nodes:,} nodes are convolutions, one in {MOST_NODES} or fewer"
        return False, reason, {"nodes": nodes}, _FORCE
    if any(type(size) is not int for pair in values for value in pair for size in (*value.shape, *value.stride())):
        return False, "their sizes are symbolic, which torch found to be slower", {}, _FORCE
    if graph.is_inference:
        return _by_flops(found)
    kinds = [_kind(node) for node in found]
    for kind, words in (
        ("grouped", "of them with groups of several channels, which can be much slower"),
        ("in_out", "of them with half as many channels out as in, or fewer, which can be slower"),
    ):
        if any(kind in of for of in kinds):
            count = sum(kind in of for of in kinds)
            return False, f"there {'is' if count == 1 else 'are'} {count} {words}", {kind: count}, _FORCE
    if all("small" in of for of in kinds):
        return False, f"none has more than {SMALL} channels", {}, _FORCE
    return True, "no convolution in it is of a kind that is slower so", {}, _OFF


def _by_flops(found: list[Any]) -> _Decided:
    counts = dict.fromkeys(MULTIPLIERS, 0)
    for node in found:
        kinds = _kind(node)
        kind = next((kind for kind in ("grouped", "small", "in_out") if kind in kinds), "default")
        counts[kind] += flops.count(node).flops
    total = sum(counts.values())
    weighted = sum(count * MULTIPLIERS[kind] for kind, count in counts.items())
    numbers: dict[str, float | int | str] = {f"{kind}_flops": count for kind, count in counts.items() if count}
    numbers |= {"flops": total, "weighted_flops": round(weighted)}
    parts = ", ".join(f"{count:,} {kind} × {MULTIPLIERS[kind]}" for kind, count in counts.items() if count)
    share = f"{weighted / total:.3f}" if total else "1"
    words = f"by torch's measurements it takes {share} of the time: FLOPs {parts}"
    return weighted <= total, words, numbers, _OFF if weighted <= total else _FORCE


def _counts_backward() -> bool:
    """True if convolutions of a backward graph count, as from torch 2.15 on."""
    code = getattr(torch_object(names.DECIDE_LAYOUT), "__code__", None)
    return any(getattr(part, "co_name", "") == COUNTS_BACKWARD.function for part in getattr(code, "co_consts", ()))


def _values(node: Any) -> Sequence[Any]:
    """The (fake) input and weight of a convolution."""
    first = 1 if target_name(node.target) == _BACKWARD else 0
    return [node.args[first].meta["val"], node.args[first + 1].meta["val"]]


def _kind(node: Any) -> frozenset[str]:
    """The keys of `MULTIPLIERS` that apply; called for sizes that are ints only."""
    weight = _values(node)[1].shape
    groups = node.args[9 if target_name(node.target) == _BACKWARD else -1]
    found = []
    if type(groups) is int and groups > 1 and weight[1] > 1:
        found.append("grouped")
    if weight[0] * 2 <= weight[1] and weight[2] > 1:
        found.append("in_out")
    if weight[0] <= SMALL and weight[1] <= SMALL:
        found.append("small")
    return frozenset(found)


def _has_mkldnn(devices: set[str]) -> bool:
    mkldnn = torch_object(names.MKLDNN)
    supported = torch_object(names.MKLDNN_DEVICES) or ()
    return mkldnn is not None and bool(mkldnn.enabled and mkldnn.is_available() and devices <= set(supported))
