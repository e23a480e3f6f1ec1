"""The check of a process: which graphs there are, and what is done with their calls."""

import importlib
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from inspect_compile.facts import Fact, NumericsCall
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.intervention.numerics.calls import Asked
from inspect_compile.lowering.intervention.numerics.finite_check import FiniteCheck
from inspect_compile.lowering.intervention.numerics.launch_check import LaunchCheck
from inspect_compile.lowering.intervention.numerics.levels import Levels
from inspect_compile.lowering.intervention.numerics.upstream.eager_check import EagerCheck
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origins
from inspect_compile.lowering.intervention.numerics.upstream.upstream_check import UpstreamCheck
from inspect_compile.lowering.intervention.numerics.values import Lowered, plan
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import inductor as names


class Check:
    """Checks the calls of compiled graphs, each in the program's own thread, and tells what came out."""

    def __init__(self, asked: Mapping[str, Any], tell: Callable[[Fact], None]) -> None:
        """`asked` has the fields of `Asked`. `tell` receives the facts."""
        self._asked = Asked.of(asked)
        self.eager = EagerCheck(self._asked, tell) if self._asked.eager and not self._asked.nonfinite else None
        self._write = tell
        self._lowered: weakref.WeakKeyDictionary[Any, Lowered] = weakref.WeakKeyDictionary()
        self.levels = Levels()
        self.origins = Origins()
        self._lock = threading.Lock()
        """Held during a check: the code of a module can have calls around its launches for one thread only."""

    def lowered(self, lowering: Any) -> Lowered:
        """What the FX nodes of a graph, torch's GraphLowering, were lowered to so far."""
        return self._lowered.setdefault(lowering, Lowered())

    def loaded(self, graph: str, lowering: Any, code: Any) -> Callable[[list[Any]], Any] | None:
        """The code of a graph was loaded; see `codegen.runtime.checked`."""
        lowered = self._lowered.pop(lowering, Lowered())
        scope = SCOPES.of(lowering)
        if (scope is not None and scope.kind in ("constants", "autotune")) or not self._asked.has_graph(graph):
            return None
        levels = self.levels.take()
        is_backward = scope is not None and scope.kind == "backward"
        origin = self.origins.of(levels[0].module, is_backward=is_backward) if levels else None
        try:
            if code.reason:
                self._tell(NumericsCall(graph=graph, reason=code.reason))
                return None
            if code.lost:
                lost = ", ".join(code.lost[:3])
                self._tell(NumericsCall(graph=graph, reason=f"not found in a function of the code: {lost}"))
            found = plan(graph, lowering, lowered)
        except Exception as error:
            let_pass(error)
            self._tell(NumericsCall(graph=graph, reason=f"{type(error).__name__}: {error}"[:300]))
            return None
        check: FiniteCheck | LaunchCheck
        if self._asked.nonfinite:
            check = FiniteCheck(found, code, self._tell, self._lock)
        else:
            upstream = UpstreamCheck(graph, levels[0], origin, is_backward=is_backward) if origin is not None else None
            check = LaunchCheck(found, levels, upstream, code, self._asked, self._tell, self._lock)
        done = 0

        def call(args: list[Any]) -> Any:
            nonlocal done
            done += 1
            if self.eager is not None:
                self.eager.ran(graph)
            return check.call(args, done) if self._asked.has_call(done) else code.call(args)

        return call

    def _tell(self, fact: Fact) -> None:
        if self.eager is not None:
            self.eager.told(fact)
        self._write(fact)


def install(check: Check) -> None:
    """Have `check` remember from now on what each FX node is lowered to."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run_node(lowering: Any, node: Any) -> Any:
            before = len(lowering.operations)
            result = plain(lowering, node)
            lowered = check.lowered(lowering)
            lowered.results.append((node.name, result))
            for operation in lowering.operations[before:]:
                lowered.makers.setdefault(operation.get_operation_name(), node.name)
            return result

        return run_node

    replace(importlib.import_module(names.RUN_NODE.module), names.RUN_NODE, watched)
