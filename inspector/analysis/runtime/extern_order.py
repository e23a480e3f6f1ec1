"""Assigns kernels of libraries to extern calls where nothing else ran: by order, and by what each call can launch.

A matmul is one kernel, with copies before it and a sum of its parts after it; attention has kernels of PyTorch around
its own. All possible assignments are considered together: a kernel that belongs to the same call in each of them
belongs to that call.
"""

import re
from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.runtime.launch_plan import Step
from inspect_compile.knowledge.kernels.library_kernels import CALLS, library_of, operator_of
from inspect_compile.profiles import GpuRun

_State = tuple[int, bool]
"""Index of a step, and whether its main kernel has run."""

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
    """For each run the step that launched it; None if several are possible, or no assignment fits."""
    calls = [_call(step) for step in steps]
    kinds = [_kind(run) for run in runs]
    reached: list[set[_State]] = [{(0, False)}]
    for kind in kinds:
        reached.append({state for before in reached[-1] for state, _ in _ways(calls, before, kind)})
    left: set[_State] = {(len(calls) - 1, True)}
    found: list[int | None] = []
    for kind, before in zip(reversed(kinds), reversed(reached[:-1]), strict=True):
        owners: set[int | None] = set()
        possible: set[_State] = set()
        for state in before:
            of = {owner for after, owner in _ways(calls, state, kind) if after in left}
            if of:
                owners |= of
                possible.add(state)
        found.append(owners.pop() if len(owners) == 1 else None)
        left = possible
    return found[::-1]


def _ways(calls: Sequence[str], state: _State, kind: str | None) -> list[tuple[_State, int | None]]:
    """The states that can follow `state` when a kernel of this kind runs, and the step that it belongs to."""
    step, is_done = state
    ways: list[tuple[_State, int | None]] = []
    near = ((step, is_done), *(((step + 1, False),) if is_done and step + 1 < len(calls) else ()))
    if kind is None and all(calls[own] != _ANY for own, _ in near):
        ways.append((state, None))
    for own, has_run in near:
        call = calls[own]
        if call == _ANY or (has_run and kind in _BEHIND[call]):
            ways.append(((own, True), own))
        elif not has_run:
            ways += [((own, False), own)] * (kind in _BEFORE[call])
            ways += [((own, True), own)] * (kind in _MAIN[call])
    return ways


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
