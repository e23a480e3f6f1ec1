"""What the host does at each moment of a profile: which operator, which part of torch.compile's own work, or a wait."""

import re
from collections.abc import Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from inspect_compile.analysis.runtime.time_slices import Slice, disjoint, gaps, within
from inspect_compile.facts import Location, OperatorLine
from inspect_compile.graph import grouped, short
from inspect_compile.knowledge.cost.operator_order import EVALUATE, GRAPH, OPERATOR, REGION, OperatorKey, OperatorOrder
from inspect_compile.knowledge.cost.step_kinds import (
    COLLECTIVE,
    COMPILED,
    COMPILING,
    COPIES,
    DISPATCH,
    EAGER,
    GUARDS,
    IN_OPTIMIZER,
    INPUT,
    LAUNCH,
    LIBRARY,
    NOT_KNOWN,
    OPTIMIZER,
    OUTSIDE,
    OVERHEAD,
    SYNCHRONISATION,
    WRAPPER,
)
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.profiles import HostCall, Profile, Span

STEP: Final = "Optimizer.step#"
PROFILER_STEP: Final = "ProfilerStep#"
_OPTIMIZER: Final = (STEP, "Optimizer.zero_grad#")
_LOADER: Final = "enumerate(DataLoader)#"
_COMPILE: Final = "(dynamo_timed)"
_AUTOGRAD: Final = "autograd"
_READS: Final = frozenset(
    ("aten::item", "aten::_local_scalar_dense", "aten::is_nonzero", "aten::nonzero", "aten::equal")
)
"""Operators whose result the host needs."""
_COLLECTIVE: Final = re.compile(r"nccl:|c10d::|gloo:|record_param_comms", re.ASCII)
_GENERATED: Final = re.compile(r"(?:graph_\d+_)?(?:triton|cpp)_", re.ASCII)
_DISPATCH: Final = frozenset(
    ("Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue", "CompiledFunction", "CompiledFunctionBackward")
)


class Activity(NamedTuple):
    """What the host does."""

    kind: str = NOT_KNOWN
    what: str = OUTSIDE
    where: str = ""
    """The function of the program that it does it for: `train.py(41): step`."""
    region: str = ""
    """The compile id of the compiled region around it, `0/0`."""
    is_in_graph: bool = False
    """True in the generated code of a graph."""
    line: Location | None = None
    """The line of the program that it does it for, where one was recorded."""


NOTHING: Final = Activity()
_MOST_CALLS: Final = 200_000
"""Operators of which lines are kept."""


class Host:
    """The activities of the threads of a profile."""

    def __init__(self, profile: Profile, lines: Iterable[OperatorLine] = ()) -> None:
        """`lines`: what the run of `profile` recorded of operators outside of graphs."""
        self._lines = _lines_of(lines)
        self._inner: dict[tuple[Activity, str, str], Activity] = {}
        events = [
            *((span, "span") for span in profile.spans),
            *((_span(call), "launch") for call in profile.calls),
            *((span, "wait") for span in profile.waits),
            *((span, "function") for span in profile.functions),
        ]
        events.sort(key=lambda event: (event[0].start, -event[0].end))
        self._of_call: dict[int, Activity] = {}
        """Correlation → what the host did it for."""
        self._slices: dict[int, list[Slice[Activity]]] = {}
        for thread, own in grouped(events, lambda event: event[0].thread).items():
            self._slices[thread] = self._of_thread(own)
        self.main = _main(profile)
        """The thread that takes the program's steps."""

    def started(self, correlation: int | None) -> Activity:
        """What the host did when it started a kernel."""
        return NOTHING if correlation is None else self._of_call.get(correlation, NOTHING)

    def slices(self, start: float, end: float) -> list[Slice[Activity]]:
        """What the host does from `start` to `end`, without gaps: where its main thread does nothing that the profile
        tells, as in a backward, what another thread does.
        """
        own = [one for one in self._slices.get(self.main, []) if one.what.what != OUTSIDE]
        found = within(own, [(start, end)])
        others = (one for thread, there in self._slices.items() if thread != self.main for one in there)
        for more in (disjoint(one for one in others if one.what.what != OUTSIDE), self._slices.get(self.main, [])):
            found = sorted([*found, *within(more, gaps(found, start, end))], key=attrgetter("start"))
        nothing = [Slice(*gap, NOTHING) for gap in gaps(found, start, end)]
        return sorted([*found, *nothing], key=attrgetter("start"))

    def _of_thread(self, events: Iterable[tuple[Span, str]]) -> list[Slice[Activity]]:
        found: list[Slice[Activity]] = []
        stack: list[tuple[float, Activity]] = []
        at = float("-inf")
        order, is_inside = OperatorOrder(), [False]

        def until(time: float) -> None:
            nonlocal at
            while stack and stack[-1][0] <= time:
                end, activity = stack.pop()
                is_inside.pop()
                if end > at:
                    found.append(Slice(at, end, activity))
                    at = end
            if stack and time > at:
                found.append(Slice(at, time, stack[-1][1]))
            at = max(at, time)

        for span, sort in events:
            until(span.start)
            around = stack[-1][1] if stack else NOTHING
            called, inside = order.key(span.name, is_inside=is_inside[-1]) if sort == "span" else (None, is_inside[-1])
            if called is not None and around.kind != OPTIMIZER and (line := self._lines.get(called)) is not None:
                around = around._replace(where=short(line), line=line)
            key = around, span.name, sort
            activity = self._inner.get(key)
            if activity is None:
                activity = self._inner[key] = _inner(around, span.name, sort)
            if sort == "launch" and span.external is not None:
                self._of_call[span.external] = around
            is_inside.append(inside)
            # A child that ends after its parent is cut: clocks of events differ by a microsecond.
            stack.append((min(span.end, stack[-1][0]) if stack else span.end, activity))
        until(float("inf"))
        return found


def _inner(around: Activity, name: str, sort: str) -> Activity:
    """What the host does in an event with this name, inside of another activity."""
    kind, what, where, region, is_in_graph, _ = around
    if sort == "function":
        return around if is_in_graph else around._replace(where=name)  # the functions of generated code are nobody's
    if kind in (COMPILING, INPUT, SYNCHRONISATION):
        return around
    if sort == "wait":
        place = IN_OPTIMIZER if kind == OPTIMIZER else where
        return around._replace(kind=SYNCHRONISATION, what=what if kind in (EAGER, OPTIMIZER) else name, where=place)
    if sort == "launch":
        return Activity(OVERHEAD, LAUNCH, where, region, True) if is_in_graph else around
    if name.endswith(_COMPILE):
        return Activity(COMPILING, name.removesuffix(_COMPILE).strip(), where, region)
    if name.startswith(REGION):
        return Activity(OVERHEAD, DISPATCH, where, name[len(REGION) :])
    if name.startswith(GRAPH):
        return Activity(OVERHEAD, WRAPPER, "", region, True)
    if name == "TorchDynamo Cache Lookup":
        return Activity(OVERHEAD, GUARDS, where, region)
    if name in _DISPATCH:
        return Activity(OVERHEAD, DISPATCH, where, region)
    if name.startswith(_LOADER):
        return Activity(INPUT, "DataLoader", where, region)
    if kind == OPTIMIZER:
        return around._replace(what=name) if "::" not in what and OPERATOR.match(name) else around
    if name.startswith(_OPTIMIZER):
        return Activity(OPTIMIZER, name.partition("#")[2], where, region)
    if is_in_graph:
        if what != WRAPPER:
            return around
        return Activity(COMPILED if _GENERATED.match(name) else LIBRARY, name, where, region, True)
    if name in _READS:
        return around._replace(kind=SYNCHRONISATION, what=name)
    if kind == COLLECTIVE or _COLLECTIVE.match(name):
        return Activity(COLLECTIVE, what if kind == COLLECTIVE else name, where, region)
    if kind == EAGER and what != _AUTOGRAD:
        return around
    if name.startswith(EVALUATE):
        return around._replace(kind=EAGER, what=_AUTOGRAD)
    if OPERATOR.match(name):
        return around._replace(kind=COPIES if name.startswith("aten::_copy_from") else EAGER, what=name)
    return around


def _lines_of(rows: Iterable[OperatorLine]) -> dict[OperatorKey, Location]:
    """Operator → the program's line that calls it, if it was the same in all steps."""
    found: dict[OperatorKey, Location] = {}
    several: set[OperatorKey] = set()
    for row in rows:
        if not 0 <= row.first <= row.last < row.first + _MOST_CALLS or len(found) > _MOST_CALLS:
            continue
        line = own_line(row.where) or row.where
        for number in range(row.first, row.last + 1):
            key = OperatorKey(row.after, row.operator, number)
            other = found.setdefault(key, line)
            if (other.file, other.line) != (line.file, line.line):
                several.add(key)
    return {key: line for key, line in found.items() if key not in several}


def _span(call: HostCall) -> Span:
    return Span(call.name, call.start, call.start + call.duration, call.thread, external=call.correlation)


def _main(profile: Profile) -> int:
    """The thread with the compiled calls and optimizer steps; else that with most events."""
    counts: dict[int, list[int]] = {}
    for span in profile.spans:
        own = counts.setdefault(span.thread, [0, 0])
        own[0] += span.name.startswith((REGION, STEP, PROFILER_STEP))
        own[1] += 1
    return max(counts, key=lambda thread: counts[thread], default=0)
