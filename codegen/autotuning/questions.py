"""What torch chooses from while it decides: its choices, what is known of each, and the rows for them."""

import itertools
import math
import weakref
from typing import Any, Final

from inspect_compile.codegen.autotuning.choices import Option, said, shape_of
from inspect_compile.codegen.autotuning.template_binaries import from_workers
from inspect_compile.facts import Tuning
from inspect_compile.lowering.core.scopes import Scope, current_graph, torch_object
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import targets as target_names

NUMBERS: Final = itertools.count()
"""Numbers of the tunings of this process."""


class Question:
    """One call of torch's selection, as plain values."""

    def __init__(self, scope: Scope, name: str, choices: Any, inputs: Any) -> None:
        self.scope, self.name = scope, name
        self.number = next(NUMBERS)
        node = getattr(current_graph(), "current_node", None)
        self.nodes = () if node is None else scope.in_order([node])
        self.inputs = tuple(map(shape_of, inputs))
        self.options: list[Option] = []
        self.operation = ""
        self.seconds: float | None = None
        self.in_worker = False
        self.is_told = False
        seen: dict[str, int] = {}
        for choice in choices:
            label = str(choice.name)
            count = seen[label] = seen.get(label, 0) + 1
            option = Option(label if count == 1 else f"{label}#{count}", choice)
            self.options.append(option)
            OPTIONS[choice] = (self, option)


OPTIONS: Final[weakref.WeakKeyDictionary[Any, tuple[Question, Option]]] = weakref.WeakKeyDictionary()
"""torch's choice object → what is known of it."""


def question_of(choices: Any) -> Question | None:
    """The question that any of these choices belongs to."""
    return next((OPTIONS[choice][0] for choice in choices if choice in OPTIONS), None)


def tell(probes: Probes, question: Question) -> None:
    """Write the question with its choices."""
    question.is_told = True
    graph, number = question.scope.graph, question.number
    from_workers([option.file for option in question.options if option.file])
    probes.sink.add(
        Tuning(
            graph=graph,
            number=number,
            about="operation",
            name=question.name,
            operation=question.operation,
            nodes=question.nodes,
            inputs=question.inputs,
            in_worker=question.in_worker,
            seconds=question.seconds if any(option.is_measured for option in question.options) else None,
        )
    )
    probes.sink.add_all([option.fact(graph, number) for option in question.options])


def is_real() -> bool:
    """True if torch itself benchmarks. In a compile for a GPU that is not present something else answers, without
    times.
    """
    return all(
        str(getattr(torch_object(name), "__module__", "")).startswith("torch.")
        for name in target_names.BENCHMARK_CHOICES
        if torch_object(name) is not None
    )


def timed(timings: Any, *, is_measured: bool) -> None:
    """Keep the times of torch's choices, in milliseconds. The time of a choice that failed is infinite."""
    if not is_real():
        return
    for choice, timing in timings.items():
        if choice in OPTIONS:
            option, milliseconds = OPTIONS[choice][1], float(timing)
            option.is_measured = option.is_measured or is_measured
            option.milliseconds = milliseconds if math.isfinite(milliseconds) else None
            if option.milliseconds is None and not option.why:
                option.why = "it failed; torch logs the reason" if option.is_measured else "it failed in an earlier run"


def failed_with(choice: Any, error: str | BaseException) -> None:
    """A choice could not be benchmarked."""
    if choice in OPTIONS:
        option = OPTIONS[choice][1]
        option.why, option.is_measured = error if isinstance(error, str) else said(error), True
