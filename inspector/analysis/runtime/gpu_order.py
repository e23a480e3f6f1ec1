"""Matches what ran on a GPU with the launches of a graph, by the order of the kernels alone.

Triton kernels are found by their names; what ran between two of them belongs to the extern calls between them in the
code.
"""

from collections.abc import Iterator, Sequence
from typing import Final

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


def find_replay(candidates: Sequence[Plan], runs: Sequence[GpuRun]) -> tuple[Plan | None, list[int | None], str]:
    """The one graph whose launches ran in this replay, the launch of each run, and the reason if there is none."""
    fits = [(plan, steps) for plan in candidates if plan.steps and (steps := match_replay(plan, runs)) is not None]
    full = [(plan, steps) for plan, steps in fits if None not in steps] or fits
    if len(full) == 1:
        plan, steps = full[0]
        return plan, steps, f"in a replay of {plan.graph}: several calls can have launched it"
    nothing: list[int | None] = [None] * len(runs)
    if full:
        return None, nothing, f"ambiguous: a replay of {' or '.join(plan.graph for plan, _ in full)}"
    return None, nothing, "in a replay of a CUDA graph whose kernels are those of no graph of the dump"


def _between(steps: Sequence[Step], runs: Sequence[GpuRun], *, is_sure: bool = True) -> Matched:
    """Matches the extern calls between two Triton kernels with what ran there; `is_sure`: nothing else can have."""
    libraries = [library_of(run.name) if run.kind == "kernel" else None for run in runs]
    if len(steps) == 1 and is_sure:
        return [0 if _fits(steps[0], run, library) else None for run, library in zip(runs, libraries, strict=True)]
    if steps and is_sure:
        return shared_out(steps, runs)
    calls = {step.launch.kernel.name for step in steps}
    families = {library.does: library for library in libraries if library is not None and library.does != "helper"}
    launched = {does for does, library in families.items() if any(can_launch(name, library) for name in calls)}
    main = [index for index, library in enumerate(libraries) if library is not None and library.does in launched]
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
    starting = _Starting([plan for plan in plans if plan.functions and not plan.is_nested])
    calls: list[tuple[Plan, int, int]] = []
    for fits, first, longest in starting.found([runs[index].name for index in tokens]):
        if len(fits) == 1:
            calls.append((fits[0], tokens[first], tokens[first + longest - 1]))
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


class _Starting:
    """Finds which plans' functions ran from a place on, at a cost that does not depend on how many they are."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._numbers: dict[str, int] = {}
        self._plans: dict[str, dict[int, dict[int, list[Plan]]]] = {}
        """First function → number of functions, the most first → hash of them → plans."""
        for plan in sorted(plans, key=lambda plan: -len(plan.functions)):
            of_length = self._plans.setdefault(plan.functions[0], {}).setdefault(len(plan.functions), {})
            of_length.setdefault(self._sums(plan.functions)[-1], []).append(plan)

    def found(self, names: Sequence[str]) -> Iterator[tuple[list[Plan], int, int]]:
        """The plans that ran one after the other, the index where each began, and its number of functions.

        Of several that begin there the longest counts; several of one length are told together.
        """
        sums = self._sums(names)
        powers = [1]
        for _ in names:
            powers.append(powers[-1] * _BASE % _PRIME)
        at = 0
        while at < len(names):
            longest = 1
            for length, plans in self._plans.get(names[at], {}).items():
                if at + length > len(names):
                    continue
                same = plans.get((sums[at + length] - sums[at] * powers[length]) % _PRIME, ())
                if same and same[0].functions == tuple(names[at : at + length]):
                    yield [plan for plan in same if plan.functions == same[0].functions], at, length
                    longest = length
                    break
            at += longest

    def _sums(self, names: Sequence[str]) -> list[int]:
        """The hash of each beginning of `names`; from two of them follows the hash of what is between."""
        sums = [0]
        for name in names:
            sums.append((sums[-1] * _BASE + self._numbers.setdefault(name, len(self._numbers) + 1)) % _PRIME)
        return sums


_PRIME: Final = (1 << 61) - 1
_BASE: Final = 1_000_003


def _edge(plan: Plan, *, is_end: bool) -> list[tuple[Plan, int]]:
    """The extern calls after the last Triton kernel, or before the first."""
    of_triton = [index for index, step in enumerate(plan.steps) if step.function]
    numbers = range(of_triton[-1] + 1, len(plan.steps)) if is_end else range(of_triton[0])
    return [(plan, number) for number in numbers]
