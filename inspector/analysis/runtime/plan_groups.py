"""Graphs that a call or a replay may be of, found by what they launch: their number does not matter."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from inspect_compile.analysis.runtime.launch_plan import Plan
from inspect_compile.graph import grouped


class PlanGroup:
    """Graphs that a call may be of, by what they launch."""

    def __init__(self, found: list[Plan]) -> None:
        self.plans = found

    @cached_property
    def _hosts(self) -> dict[tuple[str, ...], list[Plan]]:
        return grouped(self.plans, lambda plan: plan.hosts)

    @cached_property
    def _having(self) -> dict[str, list[Plan]]:
        every = ((host, plan) for plan in self.plans for host in dict.fromkeys(plan.hosts))
        return {host: [plan for _, plan in pairs] for host, pairs in grouped(every, lambda pair: pair[0]).items()}

    @cached_property
    def _first(self) -> dict[str, list[Plan]]:
        return grouped(self.plans, lambda plan: plan.functions[0] if plan.functions else "")

    def of_hosts(self, operators: Sequence[str]) -> list[Plan]:
        """Those that launch just this."""
        return self._hosts.get(tuple(operators), [])

    def with_rarest(self, operators: Sequence[str]) -> list[Plan]:
        """Those that launch the operator that the fewest of them do: no others launch all of these."""
        return min((self._having.get(name, []) for name in operators), key=len, default=self.plans)

    def with_first_function(self, names: Iterable[str]) -> list[Plan]:
        """Those whose first Triton function is among the names, and those that have none."""
        return [plan for name in dict.fromkeys(("", *names)) for plan in self._first.get(name, ())]
