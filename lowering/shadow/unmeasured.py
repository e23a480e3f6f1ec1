"""Where Inductor would time candidates on the device: all take the same time here, so the first stays."""

from collections.abc import Iterable
from typing import Any, Final

from inspect_compile.lowering.shadow.names import replace
from inspect_compile.torch_compat import targets as names

MILLISECONDS: Final = 1.0
"""What everything takes."""


class Unmeasured:
    """What Inductor asked to have timed since the last time that somebody looked."""

    def __init__(self) -> None:
        self._asked: list[str] = []

    def install(self) -> None:
        """Answer in the place of the device."""

        def callable_timed(benchmarker: Any, *arguments: Any, **named: Any) -> float:
            self._asked.append("a matmul with and without padding")
            return MILLISECONDS

        def choices_timed(cls: Any, choices: Iterable[Any], *arguments: Any, **named: Any) -> dict[Any, float]:
            there = list(choices)
            self._asked.append(f"{len(there)} candidates for {_of(there)}")
            return dict.fromkeys(there, MILLISECONDS)

        def looked_up(cache: Any, choices: Any, op: str, inputs: str, benchmark: Any, *_: Any, **__: Any) -> Any:
            """Nothing is taken from torch's cache of timings, nor left there for a compile on the real device."""
            return benchmark(choices) if benchmark is not None else {}

        replace(names.TIMINGS, looked_up)
        for name in names.BENCHMARKS:
            replace(name, callable_timed)
        for name in names.BENCHMARK_CHOICES:
            replace(name, classmethod(choices_timed))

    def taken(self) -> list[str]:
        """Each thing once, and how often."""
        asked, self._asked = self._asked, []
        counts = {what: asked.count(what) for what in asked}
        return [f"{what} ({count} times)" if count > 1 else what for what, count in counts.items()]


def _of(choices: list[Any]) -> str:
    names_of = [str(getattr(choice, "name", "")) for choice in choices]
    return next((name for name in names_of if name), "an operator")
