"""A call whose results have NaN or Inf, made again to find the launch and the FX node that make it."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.facts import NonFinite
from inspect_compile.knowledge.numerics.formats import INF
from inspect_compile.lowering.intervention.numerics.finite import (
    FiniteLaunches,
    first_in_graph,
    kinds_of,
    overflow_above,
)
from inspect_compile.lowering.intervention.numerics.graphs import philox
from inspect_compile.lowering.intervention.numerics.graphs.reference import reference
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, unseen
from inspect_compile.lowering.intervention.numerics.one_thread import OneThread
from inspect_compile.lowering.intervention.numerics.values import Plan
from inspect_compile.probe import let_pass

_TOGETHER: Final = "it has collectives, which all ranks would have to make again"
_NOT_AGAIN: Final = "made again on the same inputs, it has none"


class Explained(NamedTuple):
    """What was found of one call."""

    rows: list[NonFinite]
    launches: int
    """Number of launches that were made again."""
    seconds: float
    reason: str
    """Why nothing was found, or not all; empty if that is not so."""


def explained(
    plan: Plan, code: Any, inputs: Sequence[Any], state: RandomState | None, outputs: Mapping[str, int], number: int
) -> Explained:
    """What made the NaN, or the Inf, that is in a result of the call `number`.

    `code` is that of `codegen.runtime.checked`. `inputs` are what the call was given, and stay as they are; `state` was
    that of the generators of random numbers, None if it does not matter. `outputs`: kind → the first result that has
    it. Inf that outgrew a half type and made the NaN is found, too. Never raises, unless the exception is the program's
    own.
    """
    started, rows, launches = time.perf_counter(), list[NonFinite](), 0
    reason = _TOGETHER if plan.has_collectives else ""
    if not reason:
        try:
            with RandomState(inputs) as now, unseen(), torch.no_grad():
                (state or now).restore()
                plain = reference(plan.module, copies(inputs), philox.form_of(code.source))
                (state or now).restore()
                seen = FiniteLaunches(plan, code.aliases, inputs)
                with code.watched(OneThread(seen)) as run:
                    results = run(copies(inputs))
                launches, reason = seen.launches, seen.trouble
                for kind, output in outputs.items():
                    if kind not in kinds_of(results[output]):
                        reason = _NOT_AGAIN
                        continue
                    made = seen.first(kind, plan.outputs[output])
                    fields = made | first_in_graph(plan, plain, kind, output)
                    row = NonFinite(graph=plan.graph, call=number, kind=kind, output=output, **fields)
                    if row.from_inf and (before := overflow_above(plan, plain, row.from_inf)):
                        fields = seen.first_of_node(INF, before["node"]) | before
                        rows.append(NonFinite(graph=plan.graph, call=number, kind=INF, output=output, **fields))
                    rows.append(row)
        except Exception as error:
            let_pass(error)
            reason = f"{type(error).__name__}: {error}"[:300]
            error.__traceback__ = None
    return Explained(rows, launches, round(time.perf_counter() - started, 6), reason)
