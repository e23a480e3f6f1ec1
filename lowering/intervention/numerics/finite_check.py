"""Calls of a graph whose results are looked through for NaN and Inf, and what made the first of them."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from inspect_compile.facts import Fact, NumericsCall
from inspect_compile.knowledge.numerics.formats import KINDS
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, not_checked, unseen
from inspect_compile.lowering.intervention.numerics.nonfinite import explained, kinds_of
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.probe import let_pass


class FiniteCheck:
    """Finds the launch and the FX node that make NaN, or Inf, out of values that have none.

    The program's own call is made as always; copies of its inputs are kept beside it. If its results have NaN or Inf,
    the call is made again on the copies, launch by launch, and the graph is run node by node. Of each graph the first
    NaN and the first Inf are explained, and no later ones.
    """

    def __init__(self, plan: Plan, code: Any, tell: Callable[[Fact], None], lock: threading.Lock) -> None:
        """`code` is that of `codegen.runtime.checked`; `lock` is held during a check."""
        self._plan = plan
        self._code = code
        self._tell = tell
        self._lock = lock
        self._known: set[str] = set()
        """The kinds that have been explained."""

    def call(self, args: list[Any], number: int) -> Any:
        """Make one call of the graph, and look at its results."""
        reason = not_checked(args)
        if reason or self._known.issuperset(KINDS):
            if reason:
                self._tell(NumericsCall(graph=self._plan.graph, call=number, reason=reason))
            return self._code.call(args)
        try:
            with self._lock, unseen():
                kept, state = copies(args), RandomState(args)
        except Exception as error:
            let_pass(error)
            reason = f"{type(error).__name__}: {error}"[:300]
            self._tell(NumericsCall(graph=self._plan.graph, call=number, reason=reason))
            return self._code.call(args)
        results = self._code.call(args)
        try:
            with unseen(), torch.no_grad():
                has = [kinds_of(result) for result in results]
                found = set[str]().union(*has) - self._known
        except Exception as error:
            let_pass(error)
            found, has = set(), []
        if found:
            self._explain(found, has, kept, state, number)
        return results

    def _explain(
        self, found: set[str], has: Sequence[frozenset[str]], kept: list[Any], state: RandomState, number: int
    ) -> None:
        """Never raises, unless the exception is the program's own."""
        self._known |= found
        outputs: dict[str, int] = {
            kind: next(at for at, kinds in enumerate(has) if kind in kinds) for kind in KINDS if kind in found
        }
        with self._lock:
            rows, launches, seconds, reason = explained(self._plan, self._code, kept, state, outputs, number)
        for row in rows:
            self._tell(row)
        self._tell(
            NumericsCall(graph=self._plan.graph, call=number, launches=launches, forced_seconds=seconds, reason=reason)
        )
