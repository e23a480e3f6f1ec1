"""Joins a profile with a dump: each kernel that ran on the GPU with the launch of the graph that started it.

A run that cannot be joined is kept, with the reason; nothing is guessed.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.runtime.call_alignment import aligned, in_order
from inspect_compile.analysis.runtime.call_graphs import graphs_of_calls
from inspect_compile.analysis.runtime.gpu_order import find_replay, match_stream
from inspect_compile.analysis.runtime.host_order import GraphCall, HostOrder, Place
from inspect_compile.analysis.runtime.launch_plan import Plan, plans
from inspect_compile.analysis.runtime.plan_groups import PlanGroup
from inspect_compile.dump import Dump
from inspect_compile.graph import few, grouped
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.profiles import GpuRun, Profile

CERTAIN: Final = "certain"
LIKELY: Final = "likely"

INPUTS: Final = "inputs copied for a CUDA graph"
_COPY: Final = "aten::_foreach_copy_"
"""The operator that runs before a CUDA graph is replayed: torch/_inductor/cudagraph_trees.py, 2.11-2.15."""
_COPIED: Final = "compile id, the copy before a CUDA graph, correlation"
_OUTSIDE: Final = "outside of compiled graphs"
_MOST_NAMES: Final = 6
_TWO: Final = "the profile's External id and correlation name two calls"


class Joined(msgspec.Struct, frozen=True, gc=False):
    """How one run was joined with the dump, or why it was not."""

    launch: Launch | None = None
    graph: str = ""
    how: str = ""
    """The evidence used, such as `compile id, call order, correlation`."""
    confidence: str = ""
    """`certain` or `likely`; empty if the run was not joined."""
    reason: str = ""
    """Why it was not joined."""
    instead: str = ""
    """What the run does for a call of `graph` if no line of the code launches it."""

    @property
    def is_joined(self) -> bool:
        """True if the run's origin is known."""
        return self.launch is not None or bool(self.instead)


class Attribution(msgspec.Struct, frozen=True):
    """All runs of a profile, each with its origin."""

    runs: list[GpuRun]
    joined: list[Joined]
    first: frozenset[int]
    """Indices of the runs that are the first of their launch: one extern call can start several kernels."""
    calls: int
    """Number of calls of compiled graphs in the profile; 0 if it does not show calls."""
    unseen: tuple[str, ...]
    """C++ kernels for which the profile has no events, although it shows calls of their graphs."""
    other_names: dict[str, str]
    """Kernel name in the profile → name in the dump, where they differ and have the same place in the same order."""

    @property
    def seconds(self) -> float:
        """Time of all kernels."""
        return sum(run.duration for run in self.runs) / 1e6

    @property
    def seconds_joined(self) -> float:
        """Time of the kernels that were joined."""
        return sum(run.duration for run, own in zip(self.runs, self.joined, strict=True) if own.is_joined) / 1e6


class _Answer(msgspec.Struct, frozen=True):
    """The launches that the operators of one call belong to."""

    plan: Plan | None
    steps: tuple[int | None, ...]
    reason: str = ""
    renamed: frozenset[int] = frozenset()
    """Operators whose names are not in the dump, and which were identified by their position."""


def attribute(dump: Dump, profile: Profile) -> Attribution:
    """Join `profile` with the graphs of `dump`."""
    return _Attributor(dump, profile).join()


class _Attributor:
    def __init__(self, dump: Dump, profile: Profile) -> None:
        self._plans = plans(dump)
        self._of_id: dict[str, list[Plan]] = defaultdict(list)
        """A profile has torch's ids, which repeat after a reset."""
        self._every = PlanGroup(self._plans)
        for plan in self._plans:
            self._of_id[plan.region or ""].append(plan)
        self._profile = profile
        self._other_names: dict[str, str] = {}
        self._answers: dict[tuple[object, ...], _Answer] = {}
        self._of_call: dict[GraphCall, _Answer] = {}
        self._groups: dict[tuple[str | None, bool], PlanGroup] = {}
        self._replays: dict[tuple[object, ...], tuple[Plan | None, list[int | None], str]] = {}
        self._made: dict[tuple[int, int, str, str], Joined] = {}
        self._first: set[int] = set()
        self._started: set[tuple[int, int]] = set()
        self._hosts = frozenset(host for plan in self._plans for host in plan.hosts)
        self._told: dict[GraphCall, Plan] = {}

    def join(self) -> Attribution:
        """Run the join."""
        profile = self._profile
        joined: list[Joined] = [Joined()] * len(profile.runs)
        if not profile.spans:
            self._by_order(joined)
            return Attribution(profile.runs, joined, frozenset(self._first), 0, (), self._other_names)
        order = HostOrder(profile, self._hosts)
        self._told = graphs_of_calls(order.calls, self._plans)
        if order.operators is not None:
            return self._on_cpu(order)
        replays: dict[tuple[GraphCall | None, int | None], list[int]] = defaultdict(list)
        of_graphs = {call.correlation for call in profile.calls if "GraphLaunch" in call.name}
        by_correlation, by_external = order.by_correlation, order.by_external
        for index, run in enumerate(profile.runs):
            place = None if run.correlation is None else by_correlation.get(run.correlation)
            other = None if run.external is None else by_external.get(run.external)
            if run.correlation in of_graphs and run.correlation is not None:
                # One call of a partitioned graph replays several CUDA graphs.
                call = place.call if place is not None else None
                replays[call, None if call is not None else run.correlation].append(index)
            elif place and other and (place.call is not other.call or place.operator != other.operator):
                joined[index] = Joined(reason=_TWO)
            else:
                how = ", correlation" if place is not None else ", External id"
                joined[index] = self._of_place(run, place or other, how)
                self._count(index, place or other, joined[index])
        copies = self._copies(order) if replays else {}
        for (call, _), members in replays.items():
            self._replay(call, members, joined)
            for index in copies.get(call, ()):
                graph = joined[members[0]].graph
                if graph:
                    joined[index] = Joined(graph=graph, how=_COPIED, confidence=CERTAIN, instead=INPUTS)
        return Attribution(profile.runs, joined, frozenset(self._first), len(order.calls), (), self._other_names)

    def _copies(self, order: HostOrder) -> dict[GraphCall | None, list[int]]:
        """Call of a graph → runs of the copies that move inputs to where its CUDA graph reads them."""
        found: dict[GraphCall | None, list[int]] = defaultdict(list)
        for index, run in enumerate(self._profile.runs):
            place = None if run.correlation is None else order.by_correlation.get(run.correlation)
            if place is not None and place.call is not None and place.operator is None and place.name == _COPY:
                found[place.call].append(index)
        return found

    def _on_cpu(self, order: HostOrder) -> Attribution:
        """Attribute the operators and C++ kernels of calls, for a profile without GPU activity."""
        runs: list[GpuRun] = []
        joined: list[Joined] = []
        for span, place in order.operators or ():
            runs.append(GpuRun(span.index, "cpu", place.name, span.start, span.end - span.start))
            joined.append(self._of_place(runs[-1], place, ""))
            self._count(len(runs) - 1, place, joined[-1])
        there = {run.name for run in runs}
        called = dict.fromkeys(self._answer(call).plan for call in order.calls)
        unseen = (
            step.host
            for plan in called
            for step in (plan.steps if plan else ())
            if step.launch.kernel.kind == "cpp" and step.host not in there
        )
        return Attribution(
            runs, joined, frozenset(self._first), len(order.calls), tuple(dict.fromkeys(unseen)), self._other_names
        )

    def _count(self, index: int, place: Place | None, own: Joined) -> None:
        """Record whether this is the first kernel that the operator started."""
        if own.launch is not None and place is not None and place.operator is not None:
            key = id(place.call), place.operator
            if key not in self._started:
                self._started.add(key)
                self._first.add(index)

    def _of_place(self, run: GpuRun, place: Place | None, how: str) -> Joined:
        if place is None:
            return Joined(reason="the profile does not say what started it")
        if place.call is None:
            return Joined(reason=f"{_OUTSIDE}: {place.name}" if place.name else _OUTSIDE)
        answer = self._answer(place.call)
        graph = answer.plan.graph if answer.plan else ""
        if place.operator is None or answer.plan is None:
            what = f"by no launch of it: {place.name}" if place.name else "by no launch of it"
            return Joined(graph=graph, reason=answer.reason or f"in a call of {graph}, {what}")
        step = answer.steps[place.operator]
        if step is None:
            return Joined(graph=graph, reason=answer.reason or f"no one launch of {graph} is meant: {place.name}")
        confidence = LIKELY if place.operator in answer.renamed else CERTAIN
        function = answer.plan.steps[step].function
        if function and run.kind == "kernel" and run.name != function and confidence == CERTAIN:
            return Joined(graph=graph, reason=f"started by {place.name}, whose function in the dump is {function}")
        return self._join(answer.plan, step, f"compile id, call order{how}", confidence)

    def _join(self, plan: Plan, step: int, how: str, confidence: str) -> Joined:
        key = id(plan), step, how, confidence
        if key not in self._made:
            self._made[key] = Joined(plan.steps[step].launch, plan.graph, how, confidence)
        return self._made[key]

    def _candidates(self, call: GraphCall) -> PlanGroup:
        if call in self._told:
            return PlanGroup([self._told[call]])
        key = None if call.compile_id is None else call.compile_id.partition("_")[0], call.is_backward
        if key not in self._groups:
            same = self._plans if key[0] is None else self._of_id.get(key[0], [])
            fits = [plan for plan in same if (plan.kind == "backward") == call.is_backward or plan.kind not in _KINDS]
            self._groups[key] = PlanGroup(fits)
        return self._groups[key]

    def _answer(self, call: GraphCall) -> _Answer:
        """The launches that the operators of a call belong to; computed once for calls that look alike."""
        own = self._of_call.get(call)
        if own is None:
            key = call.compile_id, call.is_backward, id(self._told.get(call)), tuple(call.operators)
            own = self._answers.get(key)
            if own is None:
                own = self._answers[key] = self._find(call)
            self._of_call[call] = own
        return own

    def _find(self, call: GraphCall) -> _Answer:
        none: tuple[int | None, ...] = (None,) * len(call.operators)
        group = self._candidates(call)
        candidates = group.plans
        if not candidates:
            return _Answer(None, none, f"the dump has no graph of compile {call.compile_id}")
        exact = group.of_hosts(call.operators)
        if len(exact) == 1:
            return _Answer(exact[0], tuple(range(len(none))))
        if len(exact) > 1:
            names = few([plan.graph for plan in exact], _MOST_NAMES)
            return _Answer(None, none, f"ambiguous: {names} launch the same kernels in the same order")
        if len(candidates) > 1:
            fits = [plan for plan in group.with_rarest(call.operators) if in_order(plan, call.operators)]
            candidates = fits if len(fits) == 1 else candidates
        if len(candidates) > 1:
            return _Answer(None, none, f"no graph of compile {call.compile_id} launches these kernels in this order")
        there = aligned(candidates[0], call.operators)
        if there is None:
            return _Answer(None, none, f"the kernels of this call are not those of {candidates[0].graph}")
        steps, others = there
        self._other_names.update(others)
        renamed = frozenset(index for index, name in enumerate(call.operators) if name in others)
        return _Answer(candidates[0], steps, renamed=renamed)

    def _replay(self, call: GraphCall | None, members: list[int], joined: list[Joined]) -> None:
        """Attribute the kernels of one replay of a CUDA graph, or of all replays in one call."""
        runs = self._profile.runs
        members.sort(key=lambda index: runs[index].start)
        group = self._every if call is None else self._candidates(call)
        known = None if call is None else self._told.get(call)
        key = id(known or group), tuple(runs[index].name for index in members)
        if key not in self._replays:
            near = group.with_first_function(runs[index].name for index in members)
            self._replays[key] = find_replay(near, [runs[index] for index in members])
        plan, steps, reason = self._replays[key]
        how = "CUDA graph, kernel order" if call is None else "compile id, CUDA graph, kernel order"
        before: int | None = None
        for index, step in zip(members, steps, strict=True):
            if step is not None and step != before:
                self._first.add(index)
            before = step
            if plan is not None and step is not None:
                sure = plan.steps[step].function and call is not None
                joined[index] = self._join(plan, step, how, CERTAIN if sure else LIKELY)
            else:
                joined[index] = Joined(graph=plan.graph if plan else "", reason=reason)

    def _by_order(self, joined: list[Joined]) -> None:
        """Attribute a profile without operators: replays of CUDA graphs, then each stream by its order of kernels."""
        streams: dict[tuple[int, int], list[int]] = defaultdict(list)
        replays: dict[int, list[int]] = defaultdict(list)
        graph_calls = {call.correlation for call in self._profile.calls if "GraphLaunch" in call.name}
        for index, run in enumerate(self._profile.runs):
            if run.correlation is not None and (run.correlation in graph_calls or run.in_graph):
                replays[run.correlation].append(index)
            else:
                streams[run.device, run.stream].append(index)
        for members in replays.values():
            self._replay(None, members, joined)
        runs = self._profile.runs
        by_name = _by_name(self._plans)
        for members in streams.values():
            members.sort(key=lambda index: runs[index].start)
            is_ordered = self._profile.is_ordered
            found = match_stream(self._plans, [runs[index] for index in members]) if is_ordered else {}
            for place, index in enumerate(members):
                joined[index] = self._of_order(runs[index], found.get(place), by_name)
                if found.get(place) is None or found.get(place) != found.get(place - 1):
                    self._first.add(index)

    def _of_order(
        self, run: GpuRun, found: tuple[Plan, int] | None, by_name: dict[str, list[tuple[Plan, int]]]
    ) -> Joined:
        if found is not None:
            return self._join(*found, "kernel order", LIKELY)
        named = by_name.get(run.name, [])
        if len(named) == 1:
            return self._join(*named[0], "name", LIKELY)
        if named:
            return Joined(
                reason=f"ambiguous: {len(named)} launches of this name, and their order does not identify them"
            )
        return Joined(reason="no kernel of the dump has this name, and their order does not identify it")


_KINDS: Final = frozenset({"forward", "backward", "inference"})


def _by_name(found: Iterable[Plan]) -> dict[str, list[tuple[Plan, int]]]:
    every = ((plan, index) for plan in found for index, step in enumerate(plan.steps) if step.function)
    return grouped(every, lambda launch: launch[0].steps[launch[1]].function)
