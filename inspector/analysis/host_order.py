"""Which call of a compiled graph, and which operator in it, was running on the CPU when something was launched."""

import re
from collections import defaultdict
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from inspect_compile.profiles import HostCall, Profile, Span

_REGION: Final = "Torch-Compiled Region: "
_PREFIX = re.compile(r"graph_\d+_(?=cpp_)")
"""What config.cpp.enable_kernel_profile puts before the name of a C++ kernel."""
_CALL = re.compile(r"## Call CompiledFxGraph (.+) ##")
_FORWARD: Final = "CompiledFunction"
_BACKWARD: Final = "CompiledFunctionBackward"


@dataclass(eq=False, slots=True)
class GraphCall:
    """One call of a compiled graph."""

    compile_id: str | None
    """Of the region around it."""
    sequence: int | None
    """Autograd's number, of a forward that has a backward and of that backward."""
    is_backward: bool
    operators: list[str] = field(default_factory=list)
    """Those of the CPU that the wrapper called, in order."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where on the CPU something happened."""

    call: GraphCall | None
    operator: int | None
    """Its number among the call's operators; None between them."""
    name: str
    """The outermost operator that is known there, of the call or of the program; may be empty."""


_NOWHERE: Final = Place(None, None, "")


class HostOrder:
    """The places of everything that a profile's CPU side started."""

    def __init__(self, profile: Profile, hosts: AbstractSet[str]) -> None:
        """`hosts` are the names of what wrappers call: ranges of others that stand around them are looked through.

        The operators of calls are kept only where nothing ran on a GPU.
        """
        self.operators: list[tuple[Span, Place]] | None = None if profile.runs else []
        self.calls: list[GraphCall] = []
        self.by_correlation: dict[int, Place] = {}
        self.by_external: dict[int, Place] = {}
        self._hosts = hosts
        self._compile_of: dict[int, str] = {}
        spans: dict[int, list[Span]] = defaultdict(list)
        for span in profile.spans:
            spans[span.thread].append(span)
        calls: dict[int, list[HostCall]] = defaultdict(list)
        for call in profile.calls:
            calls[call.thread].append(call)
        for thread in dict.fromkeys((*spans, *calls)):
            self._thread(spans[thread], calls[thread])
        for found in self.calls:
            if found.compile_id is None and found.sequence is not None:
                found.compile_id = self._compile_of.get(found.sequence)

    def _thread(self, spans: list[Span], calls: list[HostCall]) -> None:
        spans.sort(key=lambda span: (span.start, -span.end))
        calls.sort(key=attrgetter("start"))
        stack: list[tuple[float, Place, str | None, int | None, bool]] = []
        following = 0
        for span in spans:
            start = span.start
            while following < len(calls) and calls[following].start < start:
                self._note(calls[following], stack)
                following += 1
            while stack and stack[-1][0] <= start:
                stack.pop()
            _, place, compile_id, sequence, is_backward = stack[-1] if stack else (0.0, _NOWHERE, None, None, False)
            name = span.name
            if place.operator is None:
                if name.startswith(_REGION):
                    compile_id = name[len(_REGION) :]
                    sequence, is_backward = None, False
                elif name in (_FORWARD, _BACKWARD):
                    sequence, is_backward = span.sequence, name == _BACKWARD
                    if sequence is not None and compile_id is not None:
                        self._compile_of[sequence] = compile_id
                elif _CALL.match(name):
                    call = GraphCall(compile_id, sequence, is_backward)
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
            stack.append((span.end, place, compile_id, sequence, is_backward))
        for call_left in calls[following:]:
            self._note(call_left, stack)

    def _note(self, call: HostCall, stack: list[tuple[float, Place, str | None, int | None, bool]]) -> None:
        while stack and stack[-1][0] <= call.start:
            stack.pop()
        if stack:
            self.by_correlation[call.correlation] = stack[-1][1]
