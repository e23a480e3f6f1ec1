"""Aligns the operators in one call of a graph with the launches in its code where not all names agree."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from inspect_compile.analysis.runtime.launch_plan import Plan, Step


def in_order(plan: Plan, operators: Sequence[str]) -> bool:
    """True if `operators` are a subsequence of the plan's launches."""
    rest = iter(plan.hosts)
    return all(name in rest for name in operators)


def aligned(plan: Plan, operators: Sequence[str]) -> tuple[tuple[int | None, ...], dict[str, str]] | None:
    """The launch of each operator where not all names agree, and the dump's name for each name of the profile.

    Between names that agree, names that another release of torch may have given are matched if both sides have equally
    many, of the same kinds and with the same numbers. None if the call is of another graph: one side has a kernel that
    the other has no place for.
    """
    steps: list[int | None] = [None] * len(operators)
    others: dict[str, str] = {}
    if plan.is_nested:
        once = {host: index for index, host in enumerate(plan.hosts) if plan.hosts.count(host) == 1}
        return tuple(once.get(name) for name in operators), others
    matched: set[int] = set()
    matcher = SequenceMatcher(None, operators, plan.hosts, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            steps[start:end] = range(first, last)
            matched.update(range(first, last))
        elif tag == "replace" and end - start == last - first:
            pairs = list(zip(range(start, end), range(first, last), strict=True))
            if all(_is_renamed(operators[own], plan.steps[step]) for own, step in pairs):
                for own, step in pairs:
                    steps[own] = step
                    matched.add(step)
                    others[operators[own]] = plan.hosts[step]
    of_graph = [index for index, step in enumerate(plan.steps) if step.function] or [
        index for index, step in enumerate(plan.steps) if step.launch.kernel.kind == "extern"
    ]
    kernels = [index for index, name in enumerate(operators) if "::" not in name]
    is_other = not matched.issuperset(of_graph) or any(steps[index] is None for index in kernels)
    if is_other or 2 * len(others) > len(operators):
        return None
    counts, plan_counts = Counter(operators), Counter(plan.hosts)
    for index, name in enumerate(operators):
        if name not in others and counts[name] != plan_counts[name]:
            steps[index] = None  # it is not known which of them is missing
    return tuple(steps), others


def _is_renamed(name: str, step: Step) -> bool:
    """True for `triton_per_fused_exp_sum_4` and `triton_per_fused_sum_4`: same kind and number, half of the words."""
    kind, fused, words = name.partition("_fused_")
    other_kind, _, other_words = step.host.partition("_fused_")
    own, others = set(words.split("_")[:-1]), set(other_words.split("_")[:-1])
    is_same = kind == other_kind and words.rpartition("_")[2] == other_words.rpartition("_")[2]
    return bool(fused) and is_same and 2 * len(own & others) >= len(own | others)
