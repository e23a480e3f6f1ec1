"""The questions of torch's autotuning, what it measured, and the choice it made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspect_compile.facts import Choice, Chosen, Tuning
from inspect_compile.graph.ids import Id

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

FUSED = "fused"
"""The step in which choices are measured together with what is fused into them."""


@dataclass
class TuningQuery:
    """One question: all rows with the same number."""

    tuning: Tuning
    seconds: float | None = None
    """Time of all its steps."""
    choices: list[Choice] = field(default_factory=list)
    taken: list[Chosen] = field(default_factory=list)

    @property
    def winner(self) -> Chosen | None:
        """What torch took; the last answer counts."""
        return self.taken[-1] if self.taken else None

    @property
    def compared(self) -> list[Choice]:
        """The choices with a time in the step that decided."""
        winner = self.winner
        timed = [row for row in self.choices if row.milliseconds is not None]
        fused = [row for row in timed if row.step == FUSED]
        is_by_fusion = winner is not None and winner.by == "fusion" and any(row.label == winner.label for row in fused)
        return fused if is_by_fusion else [row for row in timed if row.step != FUSED]

    def milliseconds(self, label: str) -> float | None:
        """The least time of a choice in the step that decided."""
        return min(
            (row.milliseconds for row in self.compared if row.label == label and row.milliseconds is not None),
            default=None,
        )


def asked(graph: "CompiledGraph") -> list[TuningQuery]:
    """All questions of `graph`, nested graphs included, in order."""
    found: dict[tuple[str, int], TuningQuery] = {}
    for tuning in graph.rows(Tuning):
        one = found.setdefault((tuning.graph, tuning.number), TuningQuery(tuning))
        if tuning.seconds is not None:
            one.seconds = (one.seconds or 0.0) + tuning.seconds
    for choice in graph.rows(Choice):
        if (choice.graph, choice.tuning) in found:
            found[choice.graph, choice.tuning].choices.append(choice)
    for taken in graph.rows(Chosen):
        if (taken.graph, taken.tuning) in found:
            found[taken.graph, taken.tuning].taken.append(taken)
    return list(found.values())


def of_kernels(rows: Sequence[TuningQuery]) -> dict[Id, TuningQuery]:
    """(graph, kernel) → what was asked of its configurations."""
    return {Id.of(row.tuning): row for row in rows if row.tuning.about == "kernel"}
