"""Which call of a compiled graph, and which operator in it, was running on the CPU when something was launched."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from inspect_compile.graph import grouped
from inspect_compile.knowledge.cost.operator_order import REGION
from inspect_compile.profiles import HostCall, Profile, Span

_PREFIX = re.compile(r"graph_\d+_(?=cpp_)")
"""The prefix that config.cpp.enable_kernel_profile adds to the name of a C++ kernel."""
_CALL = re.compile(r"## Call CompiledFxGraph (.+) ##")
_FORWARD: Final = "CompiledFunction"
_BACKWARD: Final = "CompiledFunctionBackward"


@dataclass(eq=False, slots=True)
class GraphCall:
    """One call of a compiled graph."""

    compile_id: str | None
    """The compile id of the enclosing region."""
    sequence: int | None
    """Autograd's sequence number, for a forward that has a backward and for that backward."""
    is_backward: bool
    region: int = 0
    """Number of the enclosing run of a compiled frame; 0 if there is none."""
    forward: "GraphCall | None" = None
    """For a backward, the call that autograd recorded it in."""
    operators: list[str] = field(default_factory=list)
    """The CPU operators that the wrapper called, in order."""


class _Around(NamedTuple):
    """What encloses a point in time on the CPU."""

    end: float
    place: "Place"
    compile_id: str | None = None
    region: int = 0
    function: Span | None = None
    """The CompiledFunction, or its backward, that is running."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the CPU something was launched."""

    call: GraphCall | None
    operator: int | None
    """Index among the call's operators; None between them."""
    name: str
    """Name of the outermost known operator there, of the call or of the program; may be empty."""


_NOWHERE: Final = Place(None, None, "")
_OPEN: Final = _Around(0.0, _NOWHERE)


class HostOrder:
    """The place of everything that the CPU side of a profile started."""

    def __init__(self, profile: Profile, hosts: AbstractSet[str]) -> None:
        """`hosts` are the names of what wrappers call; enclosing ranges with other names are skipped.

        Operators of calls are kept only if nothing ran on a GPU.
        """
        self.operators: list[tuple[Span, Place]] | None = None if profile.runs else []
        self.calls: list[GraphCall] = []
        self.by_correlation: dict[int, Place] = {}
        self.by_external: dict[int, Place] = {}
        self._hosts = hosts
        self._regions = 0
        self._forwards: dict[int, dict[int, list[tuple[float, GraphCall]]]] = defaultdict(dict)
        """Sequence number → thread → start and call of each forward with that number."""
        self._backwards: list[tuple[Span, GraphCall]] = []
        spans, calls = grouped(profile.spans, attrgetter("thread")), grouped(profile.calls, attrgetter("thread"))
        for thread in dict.fromkeys((*spans, *calls)):
            self._thread(spans.get(thread, []), calls.get(thread, []))
        self._link()

    def _thread(self, spans: list[Span], calls: list[HostCall]) -> None:
        spans.sort(key=lambda span: (span.start, -span.end))
        calls.sort(key=attrgetter("start"))
        stack: list[_Around] = []
        following = 0
        for span in spans:
            start = span.start
            while following < len(calls) and calls[following].start < start:
                self._note(calls[following], stack)
                following += 1
            while stack and stack[-1].end <= start:
                stack.pop()
            _, place, compile_id, region, function = stack[-1] if stack else _OPEN
            name = span.name
            if place.operator is None:
                if name.startswith(REGION):
                    self._regions += 1
                    compile_id, region, function = name[len(REGION) :], self._regions, None
                elif name in (_FORWARD, _BACKWARD):
                    function = span
                elif _CALL.match(name):
                    call = self._begin(compile_id, region, function)
                    self.calls.append(call)
                    place = Place(call, None, "")
                elif place.call is not None and not place.name:
                    name = _PREFIX.sub("", name)
                    if name in self._hosts or "_fused_" in name:
                        place.call.operators.append(name)
                        place = Place(place.call, len(place.call.operators) - 1, name)
                        if self.operators is not None:
                            self.operators.append((span, place))
                    elif "::" in name:
                        place = Place(place.call, None, name)
                elif place.call is None and not place.name and "::" in name and not name.startswith("autograd::"):
                    place = Place(None, None, name)
            if span.external is not None:
                self.by_external[span.external] = place
            stack.append(_Around(span.end, place, compile_id, region, function))
        for call_left in calls[following:]:
            self._note(call_left, stack)

    def _begin(self, compile_id: str | None, region: int, function: Span | None) -> GraphCall:
        if function is None:
            return GraphCall(compile_id, None, is_backward=False, region=region)
        if function.name == _BACKWARD:
            # It belongs to no region: what encloses it may be the frame that called backward().
            call = GraphCall(None, function.sequence, is_backward=True)
            self._backwards.append((function, call))
            return call
        call = GraphCall(compile_id, function.sequence, is_backward=False, region=region)
        if call.sequence is not None:
            there = self._forwards[call.sequence].setdefault(function.thread, [])
            there.append((function.start, call))
        return call

    def _link(self) -> None:
        """Give each backward its forward. Each thread counts its sequence numbers separately.

        A backward names the thread of its forward by a number of autograd's: the thread whose forwards have all the
        sequence numbers of the backwards with that number.
        """
        numbers: dict[int | None, set[int]] = defaultdict(set)
        for span, call in self._backwards:
            if call.sequence is not None and call.sequence in self._forwards and span.forward_thread is not None:
                numbers[span.forward_thread].add(call.sequence)
        of_numbers: dict[AbstractSet[int], int | None] = {}
        threads: dict[int | None, int | None] = {}
        for number, own in numbers.items():
            key = frozenset(own)
            if key not in of_numbers:
                of_numbers[key] = self._only_thread(key)
            threads[number] = of_numbers[key]
        for span, call in self._backwards:
            found = self._forwards.get(call.sequence, {}) if call.sequence is not None else {}
            thread = threads.get(span.forward_thread, next(iter(found)) if len(found) == 1 else None)
            there = found.get(thread) if thread is not None else None
            if there:
                before = bisect_right(there, span.start, key=lambda one: one[0])
                call.forward = there[before - 1][1] if before else None
            if call.forward is not None:
                call.compile_id = call.forward.compile_id

    def _only_thread(self, numbers: AbstractSet[int]) -> int | None:
        """The thread whose forwards have all these sequence numbers; None if there is none, or another."""
        of_each = sorted((self._forwards[number] for number in numbers), key=len)
        fits = (thread for thread in of_each[0] if all(thread in threads for threads in of_each))
        found = next(fits, None)
        return found if next(fits, None) is None else None

    def _note(self, call: HostCall, stack: list[_Around]) -> None:
        while stack and stack[-1].end <= call.start:
            stack.pop()
        if stack:
            self.by_correlation[call.correlation] = stack[-1].place
