"""Controls which fusions the scheduler may do: pairs that are kept apart, and a limit on their number.

Not a probe: it intervenes. It is loaded only by a command that asks for it, never by a plain run.
"""

import importlib
import types
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from inspect_compile.facts import Counted, Fact
from inspect_compile.lowering.core.scopes import SCOPES, torch_object
from inspect_compile.probe import replace
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import inductor as names

DENIED: Final = "denied by user"
BEYOND: Final = "beyond limit of fusions"
"""Refusals as torch's fusion log, and so the ledger, words them. Their codes: denied-by-user, and
beyond-limit-of-fusions.
"""


class _Denied(NamedTuple):
    """No scheduler node of `graph` may contain operations of both `a` and `b`."""

    graph: str
    a: frozenset[str]
    b: frozenset[str]

    def parts(self, graph: str, one: Any, other: Any) -> bool:
        """True if a node with the operations of both would contain the pair."""
        return graph == self.graph and (
            not (self.a.isdisjoint(one) or self.b.isdisjoint(other))
            or not (self.b.isdisjoint(one) or self.a.isdisjoint(other))
        )


class _Steer:
    """The request, and the number of fusions that this process has done."""

    def __init__(self, asked: Mapping[str, Any], tell: Callable[[Fact], None]) -> None:
        self._denied = [_Denied(graph, frozenset(a), frozenset(b)) for graph, a, b in asked.get("deny", ())]
        self._limit: int | None = asked.get("limit")
        self._graph: str = asked.get("graph", "")
        self._tell = tell
        self._done = 0

    def is_closed(self, graph: str) -> bool:
        """True if no further fusion of `graph` is allowed."""
        return self._limit is not None and self._done >= self._limit and self._counts(graph)

    def refusal(self, graph: str, one: Any, other: Any) -> str:
        """Why nodes with these operations stay apart; empty if the scheduler decides."""
        if any(denied.parts(graph, one, other) for denied in self._denied):
            return DENIED
        return BEYOND if self.is_closed(graph) else ""

    def done(self, graph: str, a: str, b: str, into: str) -> None:
        """The scheduler has fused the two."""
        if self._counts(graph):
            self._done += 1
            self._tell(Counted(graph=graph, number=self._done, a=a, b=b, into=into))

    def _counts(self, graph: str) -> bool:
        return not self._graph or graph == self._graph or graph.startswith(f"{self._graph}/")


def install(asked: Mapping[str, Any], tell: Callable[[Fact], None]) -> None:
    """Steer the scheduler of this process from now on.

    `asked` has `deny`, a list of [graph, operations, operations], and `limit`, the number of fusions that are allowed
    in the graph `graph`, or over all graphs in compile order if there is none. `tell` is called for each fusion.
    """
    steer = _Steer(asked, tell)

    def can_fuse(wrapped: Any, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        one, other = args[:2]
        refusal = steer.refusal(_graph(), one.get_operation_names(), other.get_operation_names())
        if not refusal:
            return wrapped(*args, **kwargs)
        torch_object(names.SAYS_WHY_NOT)(one, other)(refusal)
        return False

    def makes_cycle(wrapped: Any, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # The last check before a benchmarked pair is fused: can_fuse was called long before.
        return True if steer.is_closed(_graph()) else wrapped(*args, **kwargs)

    def fused(wrapped: Any, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        a, b = args[0].get_name(), args[1].get_name()
        node = wrapped(*args, **kwargs)
        steer.done(_graph(), a, b, node.get_name())
        return node

    def combined(wrapped: Any, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        nodes = list(args[0])
        held = [node.get_operation_names() for node in nodes]
        if any(steer.refusal(_graph(), held[i], held[k]) for i in range(len(held)) for k in range(i)):
            return False
        if found := wrapped(*args, **kwargs):
            words = [node.get_name() for node in nodes]
            steer.done(_graph(), words[0], "_".join(words[1:]), "_".join(words))
        return found

    _wrap(names.CAN_FUSE, can_fuse)
    _wrap(names.MAKES_CYCLE, makes_cycle)
    _wrap(names.FUSE_TWO, fused)
    _wrap(names.COMBINES, combined)


def keep_out_of_cache(module: str) -> None:
    """Do not store these compiles in torch's cache of whole graphs in `module`: later runs would get them."""
    for name in names.STORES:
        if name.module == module:
            _wrap(name, lambda wrapped, instance, args, kwargs: None)


def _graph() -> str:
    scope = SCOPES.here()
    return "" if scope is None else scope.graph


def _wrap(name: Name, wrapper: Callable[..., Any]) -> None:
    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def watch(*given: Any, **kwargs: Any) -> Any:
            if is_method and given:
                return wrapper(types.MethodType(plain, given[0]), given[0], given[1:], kwargs)
            return wrapper(plain, None, given, kwargs)

        return watch

    replace(importlib.import_module(name.module), name, watched)
