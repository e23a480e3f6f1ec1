"""Matches what ran on a GPU with the launches of a graph, by the order of the kernels alone.

Triton kernels are found by their names; what ran between two of them belongs to the extern calls between them in the
code.
"""

from collections.abc import Sequence

from inspect_compile.analysis.dumps.rows import grouped
from inspect_compile.analysis.runtime.extern_order import shared_out
from inspect_compile.analysis.runtime.launch_plan import Plan, Step
from inspect_compile.knowledge.kernels.library_kernels import Library, can_launch, library_of
from inspect_compile.profiles import GpuRun

Matched = list[int | None]
"""For each run, the index of the step that launched it."""


def match_replay(plan: Plan, runs: Sequence[GpuRun]) -> Matched | None:
    """The steps that the runs of one call belong to; None unless its Triton kernels ran in this order, once each."""
    known = set(plan.functions)
    anchors = [index for index, run in enumerate(runs) if run.name in known]
    if tuple(runs[index].name for index in anchors) != plan.functions:
        return None
    matched: Matched = [None] * len(runs)
    steps = [index for index, step in enumerate(plan.steps) if step.function]
    before_run, before_step = -1, -1
    for run, step in zip([*anchors, len(runs)], [*steps, len(plan.steps)], strict=True):
        inside = _between(plan.steps[before_step + 1 : step], runs[before_run + 1 : run])
        for offset, found in enumerate(inside):
            if found is not None:
                matched[before_run + 1 + offset] = before_step + 1 + found
        if run < len(runs):
            matched[run] = step
        before_run, before_step = run, step
    return matched


def _between(steps: Sequence[Step], runs: Sequence[GpuRun], *, is_sure: bool = True) -> Matched:
    """Matches the extern calls between two Triton kernels with what ran there; `is_sure`: nothing else can have."""
    libraries = [library_of(run.name) if run.kind == "kernel" else None for run in runs]
    if len(steps) == 1 and is_sure:
        return [0 if _fits(steps[0], run, library) else None for run, library in zip(runs, libraries, strict=True)]
    if steps and is_sure:
        return shared_out(steps, runs)
    main = [
        index
        for index, library in enumerate(libraries)
        if library is not None
        and library.does != "helper"
        and any(can_launch(s.launch.kernel.name, library) for s in steps)
    ]
    matched: Matched = [None] * len(runs)
    if len(main) != len(steps):
        return matched
    for step, index in enumerate(main):
        library = libraries[index]
        if library is None or not can_launch(steps[step].launch.kernel.name, library):
            return [None] * len(runs)
        matched[index] = step
    for index, library in enumerate(libraries):
        # The kernel that sums the parts of a split matmul follows it at once.
        if library is not None and library.does == "helper" and index and "plitK" in runs[index].name:
            matched[index] = matched[index - 1]
    return matched


def _fits(step: Step, run: GpuRun, library: Library | None) -> bool:
    return run.kind != "kernel" or library is None or can_launch(step.launch.kernel.name, library)


def match_stream(plans: Sequence[Plan], runs: Sequence[GpuRun]) -> dict[int, tuple[Plan, int]]:
    """Index in `runs` (one stream, in order) → its launch, where nothing says when a graph was called.

    A call is recognised where all Triton kernels of a graph ran one after the other; what could be two graphs is left
    out. Extern calls before the first or after the last Triton kernel are matched if exactly their kernels ran there.
    """
    known = {name for plan in plans for name in plan.functions}
    tokens = [index for index, run in enumerate(runs) if run.name in known]
    names = [runs[index].name for index in tokens]
    whole = (plan for plan in plans if plan.functions and not plan.is_nested)
    starting = grouped(whole, lambda plan: plan.functions[0])
    calls: list[tuple[Plan, int, int]] = []
    at = 0
    while at < len(tokens):
        there = starting.get(names[at], ())
        fits = [plan for plan in there if tuple(names[at : at + len(plan.functions)]) == plan.functions]
        longest = max((len(plan.functions) for plan in fits), default=0)
        fits = [plan for plan in fits if len(plan.functions) == longest]
        if len(fits) == 1:
            calls.append((fits[0], tokens[at], tokens[at + longest - 1]))
        at += longest or 1
    found: dict[int, tuple[Plan, int]] = {}
    for plan, first, last in calls:
        for index, step in enumerate(match_replay(plan, runs[first : last + 1]) or (), first):
            if step is not None:
                found[index] = plan, step
    for before, after in zip([None, *calls], [*calls, None], strict=True):
        start, end = before[2] + 1 if before else 0, after[1] if after else len(runs)
        steps = [*(_edge(before[0], is_end=True) if before else ()), *(_edge(after[0], is_end=False) if after else ())]
        between = _between([plan.steps[step] for plan, step in steps], runs[start:end], is_sure=False)
        for index, own in enumerate(between, start):
            if own is not None:
                found[index] = steps[own]
    return found


def _edge(plan: Plan, *, is_end: bool) -> list[tuple[Plan, int]]:
    """The extern calls after the last Triton kernel, or before the first."""
    of_triton = [index for index, step in enumerate(plan.steps) if step.function]
    numbers = range(of_triton[-1] + 1, len(plan.steps)) if is_end else range(of_triton[0])
    return [(plan, number) for number in numbers]
