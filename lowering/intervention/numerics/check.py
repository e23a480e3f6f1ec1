"""The check of a process: which graphs there are, and which of their calls are run a second time, forced."""

import importlib
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from inspect_compile.facts import Checked, Fact, NumericsCall
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.intervention.numerics.forced import Forced
from inspect_compile.lowering.intervention.numerics.inputs import RandomState, copies, not_checked
from inspect_compile.lowering.intervention.numerics.reference import reference
from inspect_compile.lowering.intervention.numerics.values import Lowered, Plan, plan
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import inductor as names


class Check:
    """Runs the first calls of each graph a second time, and tells what came out.

    The program's own call runs as torch generated it, on the program's own inputs, after the check: what the program
    gets is what it would get without. The check works on copies of the inputs, and puts the state of the random number
    generators back.
    """

    def __init__(self, asked: Mapping[str, Any], tell: Callable[[Fact], None]) -> None:
        """`asked` has `calls`, how many calls of each graph are checked. `tell` receives the facts."""
        self._calls: int = asked.get("calls", 1)
        self._tell = tell
        self._lowered: weakref.WeakKeyDictionary[Any, Lowered] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        """Held during a check: the code of a module can have calls around its launches for one thread only."""

    def install(self) -> None:
        """Remember from now on what each FX node is lowered to."""

        def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def run_node(lowering: Any, node: Any) -> Any:
                before = len(lowering.operations)
                result = plain(lowering, node)
                lowered = self._lowered.setdefault(lowering, Lowered())
                lowered.results.append((node.name, result))
                for operation in lowering.operations[before:]:
                    lowered.makers.setdefault(operation.get_operation_name(), node.name)
                return result

            return run_node

        replace(importlib.import_module(names.RUN_NODE.module), names.RUN_NODE, watched)

    def loaded(self, graph: str, lowering: Any, code: Any) -> Callable[[list[Any]], Any] | None:
        """The code of a graph was loaded; see `codegen.runtime.checked`."""
        lowered = self._lowered.pop(lowering, Lowered())
        scope = SCOPES.of(lowering)
        if scope is not None and scope.kind in ("constants", "autotune"):
            return None
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
        done = 0

        def call(args: list[Any]) -> Any:
            nonlocal done
            done += 1
            if done <= self._calls:
                self._check(found, code, args, done)
            return code.call(args)

        return call

    def _check(self, found: Plan, code: Any, args: Sequence[Any], number: int) -> None:
        """Check one call; never raises, unless the exception is the program's own."""
        reason = not_checked(args)
        if reason:
            self._tell(NumericsCall(graph=found.graph, call=number, reason=reason))
            return
        rows: list[Checked] = []
        launches, middle = 0, 0.0
        started = time.perf_counter()
        try:
            with self._lock, RandomState(args) as state:
                plain = reference(found.module, copies(args))
                middle = time.perf_counter()
                state.restore()
                forced = Forced(found, code.aliases, plain, number, rows.append)
                with code.watched(_OneThread(forced)) as run, torch.no_grad():
                    run(copies(args))
                launches, reason = forced.launches, forced.trouble
        except Exception as error:
            let_pass(error)
            reason = f"{type(error).__name__}: {error}"[:300]
            error.__traceback__ = None
        ended = time.perf_counter()
        for row in rows:
            self._tell(row)
        self._tell(
            NumericsCall(
                graph=found.graph,
                call=number,
                launches=launches,
                reference_seconds=round(max(0.0, (middle or ended) - started), 6),
                forced_seconds=round(ended - (middle or ended), 6),
                reason=reason,
            )
        )


class _OneThread:
    """Passes on the launches of the thread that checks: another may run the same code meanwhile."""

    def __init__(self, forced: Forced) -> None:
        self._forced = forced
        self._thread = threading.get_ident()

    def before(self, launch: Any, local: dict[str, Any]) -> Any:
        """See `Forced`."""
        return self._forced.before(launch, local) if threading.get_ident() == self._thread else None

    def after(self, launch: Any, state: Any, local: dict[str, Any]) -> None:
        """See `Forced`."""
        if threading.get_ident() == self._thread:
            self._forced.after(launch, state, local)
