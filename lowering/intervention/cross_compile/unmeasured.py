"""Answers where Inductor would time something on the GPU, which is not present.

Of several candidates for an operation the first Triton template wins, or the first candidate if there is none. Whether
a matmul is padded is decided by a table of timings.
"""

from typing import Any, Final, NamedTuple

from inspect_compile.lowering.intervention.cross_compile.padding import Padding
from inspect_compile.torch_compat import targets as names

_TAKEN: Final = 1.0
_OTHER: Final = 2.0
"""The times that Inductor gets for the chosen candidate and for the others; they are neither printed nor recorded."""
_INPUTS: Final = 3
"""Maximum number of inputs whose sizes a remark lists."""


class SkippedTiming(NamedTuple):
    """Something that Inductor would have timed."""

    what: str
    done: str
    """What it does without the times."""
    candidates: tuple[tuple[str, str], ...] = ()
    """(name, configuration) of each candidate; the first one was chosen."""


class Unmeasured:
    """Keeps what Inductor would have timed in a process that compiles for the GPU `target`."""

    def __init__(self, target: str) -> None:
        self._skipped: list[SkippedTiming] = []
        self._padding = Padding(target)

    def install(self) -> None:
        """Answer from now on."""
        template = names.TEMPLATE.load()

        def callable_timed(benchmarker: Any, *arguments: Any, **named: Any) -> float:
            if not self._padding.ask():
                self._skipped.append(SkippedTiming("a function", "nothing is known of its time"))
            return _TAKEN

        def choices_timed(cls: Any, choices: list[Any], *arguments: Any, **named: Any) -> dict[Any, float]:
            there = sorted(choices, key=lambda choice: not isinstance(choice, template))
            candidates = tuple((_name(choice), str(getattr(choice, "description", ""))) for choice in there)
            what = f"{len(there)} candidates for {_of(choices)}"
            self._skipped.append(SkippedTiming(what, f"{candidates[0][0]} was taken" if candidates else "", candidates))
            return {choice: _OTHER if position else _TAKEN for position, choice in enumerate(there)}

        def looked_up(cache: Any, choices: Any, op: str, inputs: str, benchmark: Any, *_: Any, **__: Any) -> Any:
            """torch's cache of timings is neither read nor written, as a compile on the real device would use it."""
            return benchmark(choices) if benchmark is not None else {}

        def fusion_timed(scheduling: Any, module: Any, *arguments: Any, **named: Any) -> tuple[float, str]:
            self._skipped.append(SkippedTiming("a kernel with and without a fusion", "the fusion was done"))
            return _TAKEN, module.__file__

        self._padding.install(lambda decided: self._skipped.append(SkippedTiming(decided.what, decided.done)))
        names.TIMINGS.put(looked_up)
        names.FUSION_TIMED.put(fusion_timed)
        for name in names.CHOICE_LOGS:
            name.put(staticmethod(lambda *_, **__: None))
        for name in names.BENCHMARKS:
            name.put(callable_timed)
        for name in names.BENCHMARK_CHOICES:
            name.put(classmethod(choices_timed))

    def taken(self) -> tuple[SkippedTiming, ...]:
        """What was not timed since the last call; equal ones once, with their number in `what`."""
        skipped, self._skipped = self._skipped, []
        counts = {one: skipped.count(one) for one in skipped}
        return tuple(
            one._replace(what=f"{one.what} ({count} times)") if count > 1 else one for one, count in counts.items()
        )


def _of(choices: list[Any]) -> str:
    """What the candidates compute, for a remark: the operator, and the sizes of its inputs."""
    named = next(filter(None, map(_name, choices)), "an operator")
    inputs = next(filter(None, (getattr(choice, "input_nodes", ()) for choice in choices)), ())
    sizes = [f"[{', '.join(map(str, one.get_size()))}]" for one in inputs]
    more = f" and {len(sizes) - _INPUTS} more" if len(sizes) > _INPUTS else ""
    return f"{named} of {', '.join(sizes[:_INPUTS])}{more}" if sizes else named


def _name(choice: Any) -> str:
    return str(getattr(choice, "name", ""))
