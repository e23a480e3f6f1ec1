"""What torch's autotuning asked, what it measured, and what it took in the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from inspect_compile.dump import Dump
from inspect_compile.facts import Choice, Chosen, Tuning

FUSED = "fused"
"""The step in which choices were measured with what is fused into them."""


@dataclass
class Asked:
    """One question: the rows of one number."""

    tuning: Tuning
    seconds: float | None = None
    """Of all its steps."""
    choices: list[Choice] = field(default_factory=list)
    taken: list[Chosen] = field(default_factory=list)

    @property
    def winner(self) -> Chosen | None:
        """What torch took; the last word counts."""
        return self.taken[-1] if self.taken else None

    @property
    def compared(self) -> list[Choice]:
        """The choices in the step that decided, with their times."""
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


def asked(dump: Dump, graph: str) -> list[Asked]:
    """All that was asked for `graph`, nested graphs included, in order."""
    found: dict[tuple[str, int], Asked] = {}
    for tuning in dump.rows(Tuning, graph):
        one = found.setdefault((tuning.graph, tuning.number), Asked(tuning))
        if tuning.seconds is not None:
            one.seconds = (one.seconds or 0.0) + tuning.seconds
    for choice in dump.rows(Choice, graph):
        if (choice.graph, choice.tuning) in found:
            found[choice.graph, choice.tuning].choices.append(choice)
    for taken in dump.rows(Chosen, graph):
        if (taken.graph, taken.tuning) in found:
            found[taken.graph, taken.tuning].taken.append(taken)
    return list(found.values())


def of_kernels(rows: Sequence[Asked]) -> dict[tuple[str, str], Asked]:
    """(graph, kernel) → what was asked of its configurations."""
    return {(row.tuning.graph, row.tuning.name): row for row in rows if row.tuning.about == "kernel"}
