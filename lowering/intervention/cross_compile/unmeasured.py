"""Where Inductor would time candidates on the device, none is timed: the first template is taken, else the first.

A matmul is padded where a table of timings says so.
"""

from typing import Any, Final, NamedTuple

from inspect_compile.lowering.intervention.cross_compile.padding import Padding
from inspect_compile.torch_compat import targets as names

_TAKEN: Final = 1.0
_OTHER: Final = 2.0
"""What Inductor is told, in no unit: the smaller one wins. None of it is printed or recorded."""
_INPUTS: Final = 3
"""So many sizes are told."""


class Asked(NamedTuple):
    """What Inductor wanted to have timed."""

    what: str
    done: str
    """Without an answer."""
    candidates: tuple[tuple[str, str], ...] = ()
    """(name, configuration), the one that was taken first."""


class Unmeasured:
    """What Inductor asked to have timed since the last time that somebody looked."""

    def __init__(self, target: str) -> None:
        self._asked: list[Asked] = []
        self._padding = Padding(target)

    def install(self) -> None:
        """Answer in the place of the device."""

        template = names.TEMPLATE.load()

        def callable_timed(benchmarker: Any, *arguments: Any, **named: Any) -> float:
            if not self._padding.ask():
                self._asked.append(Asked("a function", "nothing is known of its time"))
            return _TAKEN

        def choices_timed(cls: Any, choices: list[Any], *arguments: Any, **named: Any) -> dict[Any, float]:
            there = sorted(choices, key=lambda choice: not isinstance(choice, template))
            candidates = tuple((_name(choice), str(getattr(choice, "description", ""))) for choice in there)
            what = f"{len(there)} candidates for {_of(choices)}"
            self._asked.append(Asked(what, f"{candidates[0][0]} was taken" if candidates else "", candidates))
            return {choice: _OTHER if position else _TAKEN for position, choice in enumerate(there)}

        def looked_up(cache: Any, choices: Any, op: str, inputs: str, benchmark: Any, *_: Any, **__: Any) -> Any:
            """Nothing is taken from torch's cache of timings, nor left there for a compile on the real device."""
            return benchmark(choices) if benchmark is not None else {}

        def unsaid(*arguments: Any, **named: Any) -> None:
            return

        def fusion_timed(scheduling: Any, module: Any, *arguments: Any, **named: Any) -> tuple[float, str]:
            self._asked.append(Asked("a kernel with and without a fusion", "the fusion was done"))
            return _TAKEN, module.__file__

        self._padding.install(lambda decided: self._asked.append(Asked(decided.what, decided.done)))
        names.TIMINGS.put(looked_up)
        names.FUSION_TIMED.put(fusion_timed)
        for name in names.CHOICE_LOGS:
            name.put(staticmethod(unsaid))
        for name in names.BENCHMARKS:
            name.put(callable_timed)
        for name in names.BENCHMARK_CHOICES:
            name.put(classmethod(choices_timed))

    def taken(self) -> tuple[Asked, ...]:
        """Each thing once; of how often tells `what`."""
        asked, self._asked = self._asked, []
        counts = {question: asked.count(question) for question in asked}
        return tuple(
            question._replace(what=f"{question.what} ({count} times)") if count > 1 else question
            for question, count in counts.items()
        )


def _of(choices: list[Any]) -> str:
    """What the candidates compute: the operator's name, and the sizes of its inputs."""
    named = next(filter(None, map(_name, choices)), "an operator")
    inputs = next(filter(None, (getattr(choice, "input_nodes", ()) for choice in choices)), ())
    sizes = [f"[{', '.join(map(str, one.get_size()))}]" for one in inputs]
    more = f" and {len(sizes) - _INPUTS} more" if len(sizes) > _INPUTS else ""
    return f"{named} of {', '.join(sizes[:_INPUTS])}{more}" if sizes else named


def _name(choice: Any) -> str:
    return str(getattr(choice, "name", ""))
