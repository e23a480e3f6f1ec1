"""What torch's min-cut partitioner weighs: which values it may not recompute, and what saving each one costs.

Plain values, kept for one partition. With a memory budget several cuts are computed and one is taken.
"""

import math
import threading
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_compile.knowledge.memory.saved_reasons import EITHER, FAR_APART, LONG_CHAIN, NO_REASON
from inspect_compile.lowering.core.values import frames_of
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import passes as names
from inspect_compile.torch_compat.frames import SOLVE_MIN_CUT

PROBE = "lowering.min_cut"

_LONG: Final = 100
"""Minimum length of a chain of forward nodes at whose end torch bans one (`solve_min_cut`)."""
_BANNED, _UNSAVABLE = "cannot recompute: ", "cannot save: "
_FARTHEST: Final = 8
"""Maximum number of callers that are searched."""


@dataclass
class Cut:
    """One minimum cut."""

    banned: dict[str, str] = field(default_factory=dict)
    """Node → torch's words why it may not be recomputed."""
    unsavable: dict[str, str] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    bans: tuple[str, ...] = ()
    lifted: int = 0
    chosen: tuple[str, ...] = ()


@dataclass
class Choice:
    """The choice for one joint graph."""

    budget: float | None = None
    """None if no minimum cut was computed."""
    cuts: list[Cut] = field(default_factory=list)
    taken: int = 0
    """Number of the cut that was taken, from 1; 0 for none."""

    @property
    def cut(self) -> Cut:
        """The cut that was taken; an empty one if none was."""
        return self.cuts[self.taken - 1] if self.taken else Cut()


class _State(threading.local):
    """State of the partition that runs on this thread."""

    def __init__(self) -> None:
        self.cuts: list[Cut] = []
        self.choice: Choice | None = None


_STATE = _State()


def last_choice() -> Choice:
    """The last choice on this thread that was not read yet; one without cuts if there is none."""
    choice, _STATE.choice = _STATE.choice, None
    return choice or Choice()


def install(probes: Probes) -> None:
    """Hook the choice, each cut, and what follows it inside the function that cuts."""

    def begun(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _STATE.cuts, _STATE.choice = [], None

    def chosen(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        budget = kwargs.get("memory_budget", args[2] if len(args) > 2 else 1)
        kept = tuple(node.name for node in result)
        cuts, _STATE.cuts = _STATE.cuts, []
        taken = next((number for number in range(len(cuts), 0, -1) if cuts[number - 1].chosen == kept), 0)
        _STATE.choice = Choice(float(budget), cuts, taken)

    def solving(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _STATE.cuts.append(Cut())

    def cut(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = next(frames_of(SOLVE_MIN_CUT, farthest=_FARTHEST), {}) if _STATE.cuts else {}
        if (network := found.get(*SOLVE_MIN_CUT.variables)) is not None:  # the function that cuts is the caller
            _read(network, _STATE.cuts[-1])

    def solved(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if _STATE.cuts:
            _complete(_STATE.cuts[-1], *_arguments(args, kwargs), result)

    probes.wrap(PROBE, names.CHOOSE_SAVED, before=begun, after=chosen)
    probes.wrap(PROBE, names.SOLVE_MIN_CUT, before=solving, after=solved)
    probes.wrap(PROBE, names.CUT_IS_KNOWN, before=cut)


def _read(network: Any, cut: Cut) -> None:
    """Read the network, a `networkx.DiGraph`: each node is two vertices with an edge whose weight is the cost of
    saving; an edge from the source bans it.
    """
    for vertex, edge in network.adj["source"].items() if "source" in network else ():
        cut.banned[_node(vertex)] = str(edge.get("reason", "")).partition(_BANNED)[2]
    for vertex, edges in network.adj.items():
        own = edges.get(f"{_node(vertex)}_out") if vertex.endswith("_in") else None
        if own is None:
            continue
        weight, reason = own["capacity"], str(own.get("reason", "")).partition(_UNSAVABLE)[2]
        if reason:
            cut.unsavable[_node(vertex)] = reason
        elif math.isfinite(weight):
            cut.weights[_node(vertex)] = int(weight)


def _node(vertex: str) -> str:
    return vertex.removesuffix("_in")


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Information on the nodes, the rules, and the nodes that the budget exempts from them."""
    given = dict(zip(("joint_graph", "node_info", "min_cut_options", "dont_ban"), args, strict=False)) | kwargs
    return given["node_info"], given["min_cut_options"], given.get("dont_ban")


def _complete(cut: Cut, info: Any, options: Any, lifted: Any, result: Any) -> None:
    saved, banned = result
    cut.chosen = tuple(node.name for node in saved)
    cut.bans = tuple(name for name, is_on in vars(options).items() if is_on is True)
    cut.lifted = len(lifted or ())
    for node in banned:
        if not cut.banned.get(node.name):
            cut.banned[node.name] = _without_reason(node, info, options)


def _without_reason(node: Any, info: Any, options: Any) -> str:
    """The rule behind a ban without a reason: two rules give none, and only what one of them cannot have done is
    certain.
    """
    order = info.fw_order.get(node)
    may_be_chain = options.ban_if_long_fusible_chains and (order is None or order > _LONG)
    may_be_apart = options.ban_if_used_far_apart and any(
        sum(map(info.is_required_fw, source.users)) > 1 for source in node.all_input_nodes
    )
    if may_be_apart:
        return EITHER if may_be_chain else FAR_APART
    return LONG_CHAIN if may_be_chain else NO_REASON
