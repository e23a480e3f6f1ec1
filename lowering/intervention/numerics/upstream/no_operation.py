"""Graphs that have no operation when Inductor gets them: torch calls them as they are, and there is no code to check.

Such a graph, often the backward of a function that adds something, is compared with the levels above it alone.
"""

import types
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch.fx import GraphModule

from inspect_compile.facts import Fact, NumericsCall, NumericsRequest
from inspect_compile.knowledge.numerics.verdicts import NOT_COMPARABLE, verdict
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.lowering.intervention.numerics.graphs.shared import Shared
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, not_checked, unseen
from inspect_compile.lowering.intervention.numerics.left_behind.left import OwnResults
from inspect_compile.lowering.intervention.numerics.levels import FIRST, Level
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origin
from inspect_compile.lowering.intervention.numerics.upstream.upstream_check import UpstreamCheck, not_compared
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.attributes import TAKES_A_LIST

_NO_DYNAMO: Final = "its Dynamo graph is not known"


def has_no_operation(module: GraphModule, found: Any) -> bool:
    """True if `found`, what torch made of the graph, calls it as it is."""
    is_graph = type(found) is types.FunctionType and hasattr(found, TAKES_A_LIST)
    return is_graph and all(node.op in ("placeholder", "output", "get_attr") for node in module.graph.nodes)


def checked(
    module: GraphModule,
    plain: Callable[[list[Any]], Any],
    origin: Origin | None,
    asked: NumericsRequest,
    tell: Callable[[Fact], None],
    *,
    is_backward: bool,
) -> Callable[[list[Any]], Any]:
    """`plain`, which calls `module`, with a check of the calls that were `asked` for."""
    name = f"{compile_id()} {'backward' if is_backward else 'forward'} without operations"
    level = Level(FIRST, module)
    upstream = (
        UpstreamCheck(name, level, origin, is_backward=is_backward, always_exact=asked.exact)
        if origin is not None
        else None
    )
    done = 0

    def look(args: Sequence[Any]) -> None:
        with RandomState(args) as state, unseen():
            if upstream is None or (reason := not_checked(args)):
                rows = [not_compared(name, done, _NO_DYNAMO if upstream is None else reason)]
            else:
                with torch.no_grad():
                    left = Left(plain(list(args)), args)
                rows = upstream.rows(args, done, state, Shared(None), OwnResults(None), left)
        for row in rows:
            tell(row)
            if verdict(row) == NOT_COMPARABLE:
                tell(NumericsCall(graph=name, call=done, reason=f"{row.buffer}: {row.reason}"))

    def call(args: list[Any]) -> Any:
        nonlocal done
        done += 1
        if asked.has_call(done):
            try:
                look(list(args))
            except Exception as error:
                let_pass(error)
                tell(NumericsCall(graph=name, call=done, reason=f"{type(error).__name__}: {error}"[:300]))
                error.__traceback__ = None
        found = plain(args)
        if upstream is not None:
            upstream.returned(found)
        return found

    setattr(call, TAKES_A_LIST, True)
    return call
