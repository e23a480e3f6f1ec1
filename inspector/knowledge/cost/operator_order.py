"""Which operators of a step are the same in two profiles of it: those that the program calls, in their order."""

import re
from typing import Final, NamedTuple

REGION: Final = "Torch-Compiled Region: "
GRAPH: Final = "## Call CompiledFxGraph"
EVALUATE: Final = "autograd::engine::evaluate_function: "
OPERATOR: Final = re.compile(r"[A-Za-z_]\w*::", re.ASCII)


class OperatorKey(NamedTuple):
    """An operator that runs outside of compiled graphs and of other operators."""

    after: str
    """Compile id of the compiled region that began last before it, `0/0`; empty before the first."""
    name: str
    """torch's name of it, `aten::mul_`."""
    number: int
    """How many operators of this name there were since."""


class OperatorOrder:
    """Gives the operators of one thread their keys, from its events in the order in which they begin."""

    def __init__(self) -> None:
        self._after = ""
        self._counts: dict[str, int] = {}

    def key(self, name: str, *, is_inside: bool) -> tuple[OperatorKey | None, bool]:
        """The key of an event, None if it is no such operator, and what `is_inside` is for the events inside of it.

        `is_inside`: an event around this one is an operator or a compiled graph.
        """
        if name.startswith(REGION):
            self._after = name.removeprefix(REGION)
            self._counts.clear()
            return None, is_inside
        if is_inside or name.startswith(GRAPH):
            return None, True
        if name.startswith(EVALUATE) or not OPERATOR.match(name):
            return None, False
        number = self._counts.get(name, 0)
        self._counts[name] = number + 1
        return OperatorKey(self._after, name, number), True
