"""Aligns the operators in one call of a graph with the launches in its code where not all names agree."""

from collections import Counter
from collections.abc import Sequence

from inspect_compile.analysis.runtime.launch_plan import Plan, Step


def in_order(plan: Plan, operators: Sequence[str]) -> bool:
    """True if `operators` are a subsequence of the plan's launches."""
    rest = iter(plan.hosts)
    return all(name in rest for name in operators)


def aligned(plan: Plan, operators: Sequence[str]) -> tuple[tuple[int | None, ...], dict[str, str]] | None:
    """The launch of each operator where not all names agree, and the dump's name for each name of the profile.

    The kernels must be the plan's, in its order. One of the profile has the plan's name, or a name that another release
    of torch may have given: of the same kind and with the same number. Extern calls are matched between two kernels,
    where both sides have them in one order. None if the call is of another graph: one side has a kernel that the other
    has no place for.
    """
    steps: list[int | None] = [None] * len(operators)
    others: dict[str, str] = {}
    if plan.is_nested:
        hosts = Counter(plan.hosts)
        once = {host: index for index, host in enumerate(plan.hosts) if hosts[host] == 1}
        return tuple(once.get(name) for name in operators), others
    pairs = _kernels(plan, operators)
    if pairs is None or not (plan.functions or _has_externs(plan, operators, dict(pairs))):
        return None
    before = (-1, -1)
    for own, step in [*pairs, (len(operators), len(plan.steps))]:
        _match_externs(plan, operators, range(before[0] + 1, own), range(before[1] + 1, step), steps)
        if own < len(operators):
            steps[own] = step
            if operators[own] != plan.hosts[step]:
                others[operators[own]] = plan.hosts[step]
        before = own, step
    if 2 * len(others) > len(operators):
        return None
    counts, plan_counts = Counter(operators), Counter(plan.hosts)
    for index, name in enumerate(operators):
        if name not in others and counts[name] != plan_counts[name]:
            steps[index] = None  # it is not known which of them is missing
    return tuple(steps), others


def _kernels(plan: Plan, operators: Sequence[str]) -> list[tuple[int, int]] | None:
    """The kernels among the operators, each with its launch; None if they are not the plan's, in its order.

    Of C++ kernels the profile may have no events.
    """
    rest = iter([index for index, host in enumerate(plan.hosts) if not _is_extern(host)])
    found: list[tuple[int, int]] = []
    for own, name in enumerate(operators):
        if _is_extern(name):
            continue
        for index in rest:
            if name == plan.hosts[index] or _is_renamed(name, plan.steps[index]):
                found.append((own, index))
                break
            if plan.steps[index].function:
                return None
        else:
            return None
    return None if any(plan.steps[index].function for index in rest) else found


def _has_externs(plan: Plan, operators: Sequence[str], kernels: dict[int, int]) -> bool:
    """True if all extern calls of the plan, and the `kernels`, are among the operators in the plan's order."""
    there = set(kernels.values())
    needed = iter([index for index, host in enumerate(plan.hosts) if _is_extern(host) or index in there])
    following = next(needed, None)
    for own, name in enumerate(operators):
        if following is not None and (kernels[own] == following if own in kernels else name == plan.hosts[following]):
            following = next(needed, None)
        elif own in kernels:
            return False
    return following is None


def _match_externs(plan: Plan, operators: Sequence[str], own: range, of: range, steps: list[int | None]) -> None:
    """Match the extern calls between two kernels, but those of which one side has more."""
    launched = [index for index in of if _is_extern(plan.hosts[index])]
    counts = Counter(operators[index] for index in own)
    counts.subtract(plan.hosts[index] for index in launched)
    here = [index for index in own if not counts[operators[index]]]
    there = [index for index in launched if not counts[plan.hosts[index]]]
    if [operators[index] for index in here] == [plan.hosts[index] for index in there]:
        for index, step in zip(here, there, strict=True):
            steps[index] = step


def _is_extern(name: str) -> bool:
    return "::" in name


def _is_renamed(name: str, step: Step) -> bool:
    """True for `triton_per_fused_exp_sum_4` and `triton_per_fused_sum_4`: same kind and number, half of the words."""
    kind, fused, words = name.partition("_fused_")
    other_kind, _, other_words = step.host.partition("_fused_")
    own, others = set(words.split("_")[:-1]), set(other_words.split("_")[:-1])
    is_same = kind == other_kind and words.rpartition("_")[2] == other_words.rpartition("_")[2]
    return bool(fused) and is_same and 2 * len(own & others) >= len(own | others)
