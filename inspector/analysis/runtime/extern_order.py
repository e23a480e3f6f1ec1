"""Assigns kernels of libraries to extern calls where nothing else ran: by order, and by what each call can launch.

A matmul is one kernel, with copies before it and a sum of its parts after it; attention has kernels of PyTorch around
its own. All possible assignments are considered together: a kernel that belongs to the same call in each of them
belongs to that call.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspect_compile.analysis.runtime.launch_plan import Step
from inspect_compile.knowledge.kernels.library_kernels import CALLS, library_of, operator_of
from inspect_compile.profiles import GpuRun

MOST: Final = 4096
"""Extern calls in a row that are looked at: each run costs time and memory for every one of them."""

_COPY: Final = "copy"
_COPIES = re.compile(r"mem(?:cpy|set)\d*_\w+", re.ASCII)
"""What CUDA runs for a small copy in a CUDA graph: `memcpy32_post`."""
_ANY: Final = ""
"""A call of which nothing is known: each kernel can belong to it."""

_BEFORE: Final = {
    "matmul": frozenset({_COPY, "operator"}),
    "convolution": frozenset({_COPY, "operator", "helper"}),
    "attention": frozenset({_COPY, "operator"}),
    "collective": frozenset({_COPY}),
}
_MAIN: Final = {
    "matmul": frozenset({"matmul"}),
    "convolution": frozenset({"convolution", "matmul"}),
    "attention": frozenset({"attention"}),
    "collective": frozenset({"collective"}),
}
_BEHIND: Final = {
    "matmul": frozenset({"helper"}),
    "convolution": frozenset({"convolution", "matmul", "helper", "operator", _COPY}),
    "attention": frozenset({"attention", "operator", _COPY}),
    "collective": frozenset[str](),
}
"""Kind of call → kinds of its kernels before the main one, of the main one, and of those after it."""


def shared_out(steps: Sequence[Step], runs: Sequence[GpuRun]) -> list[int | None]:
    """For each run the step that launched it; None if several are possible, no assignment fits, or the steps are more
    than `MOST`.
    """
    if len(steps) > MOST:
        return [None] * len(runs)
    every = (1 << len(steps)) - 1
    of_calls = _of_calls(steps)
    unknown = of_calls.get(_ANY, 0)
    ways = [_Ways.of(_kind(run), of_calls, unknown) for run in runs]
    reached = [_States(waiting=1, done=0)]
    for way in ways:
        reached.append(way.after(reached[-1], every))
    left = _States(waiting=0, done=1 << len(steps) - 1)
    found: list[int | None] = []
    for way, before in zip(reversed(ways), reversed(reached[:-1]), strict=True):
        own = way.owners(before, left)
        left, has_none = way.before(before, left)
        found.append(own.bit_length() - 1 if own and not own & (own - 1) and not has_none else None)
    return found[::-1]


class _States(NamedTuple):
    """Sets of steps, as the bits of numbers: each run takes one operation on a whole set."""

    waiting: int
    """The steps whose main kernel may not have run yet, while they are at work."""
    done: int
    """Those whose main kernel may have run."""


class _Ways(NamedTuple):
    """The steps, as bits, that a run can belong to."""

    ahead: int
    """As a kernel before the main one."""
    main: int
    """As the main one."""
    behind: int
    """As one after it."""
    alone: _States
    """Where it may belong to no step at all."""

    @classmethod
    def of(cls, kind: str | None, of_calls: dict[str, int], unknown: int) -> "_Ways":
        """Those of a run of this kind."""
        ahead, main, behind = (
            sum(bits for call, bits in of_calls.items() if kind in kinds.get(call, ()))
            for kinds in (_BEFORE, _MAIN, _BEHIND)
        )
        known = ~unknown if kind is None else 0
        return cls(ahead, main | unknown, behind | unknown, _States(known, known & ~(unknown >> 1)))

    def after(self, states: _States, every: int) -> _States:
        """What can be reached from `states` with this run; `every` has the bits of all steps."""
        begun = (states.waiting | states.done << 1) & every
        return _States(
            begun & self.ahead | states.waiting & self.alone.waiting,
            begun & self.main | states.done & (self.behind | self.alone.done),
        )

    def owners(self, states: _States, left: _States) -> int:
        """The steps that it can belong to between `states` and `left`."""
        return (states.waiting | states.done << 1) & self._begins(left) | states.done & self.behind & left.done

    def before(self, states: _States, left: _States) -> tuple[_States, bool]:
        """Those of `states` that lead to `left`, and whether one does with a run that belongs to no step."""
        alone = _States(states.waiting & self.alone.waiting & left.waiting, states.done & self.alone.done & left.done)
        begins = self._begins(left)
        waiting = states.waiting & begins | alone.waiting
        done = states.done & (self.behind & left.done | begins >> 1) | alone.done
        return _States(waiting, done), any(alone)

    def _begins(self, left: _States) -> int:
        """The steps that it can begin, or be the main kernel of."""
        return self.ahead & left.waiting | self.main & left.done


def _of_calls(steps: Sequence[Step]) -> dict[str, int]:
    """What is called → the steps that call it, as bits."""
    digits: dict[str, bytearray] = {}
    for number, step in enumerate(steps, 1):
        digits.setdefault(_call(step), bytearray(b"0" * len(steps)))[-number] = ord("1")
    return {call: int(text, 2) for call, text in digits.items()}


def _call(step: Step) -> str:
    if step.function:
        return _ANY
    name = operator_of(step.launch.kernel.name)
    return next((does for does in ("convolution", "matmul", "attention", "collective") if name in CALLS[does]), _ANY)


def _kind(run: GpuRun) -> str | None:
    if run.kind != "kernel" or _COPIES.fullmatch(run.name):
        return _COPY
    library = library_of(run.name)
    return None if library is None else library.does
