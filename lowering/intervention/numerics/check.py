"""The check of a process: which graphs there are, and what is done with their calls."""

import atexit
import importlib
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

from inspect_compile.facts import Fact, LoadedLine, NumericsCall, NumericsRequest
from inspect_compile.facts.numerics import BEGUN, LOADED, NOT_ASKED
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.lowering.intervention.numerics.finite_check import FiniteCheck
from inspect_compile.lowering.intervention.numerics.graphs import patterns
from inspect_compile.lowering.intervention.numerics.kept.keeper import Keeper
from inspect_compile.lowering.intervention.numerics.kept.room import Room
from inspect_compile.lowering.intervention.numerics.launch_check import LaunchCheck
from inspect_compile.lowering.intervention.numerics.levels import Levels
from inspect_compile.lowering.intervention.numerics.recorder.around import inside
from inspect_compile.lowering.intervention.numerics.recorder.calls import GraphCalls
from inspect_compile.lowering.intervention.numerics.recorder.recorder import Recorder
from inspect_compile.lowering.intervention.numerics.results import Left
from inspect_compile.lowering.intervention.numerics.upstream import no_operation
from inspect_compile.lowering.intervention.numerics.upstream.eager_check import EagerCheck
from inspect_compile.lowering.intervention.numerics.upstream.origins import Origins
from inspect_compile.lowering.intervention.numerics.upstream.package_check import Packages
from inspect_compile.lowering.intervention.numerics.upstream.upstream_check import UpstreamCheck
from inspect_compile.lowering.intervention.numerics.values import Lowered, plan
from inspect_compile.probe import let_pass, replace
from inspect_compile.torch_compat import inductor as names

_CHANGED: Final = 40
"""Maximum number of lines of a graph's code that are told as loaded in another form."""


class Check:
    """Checks the calls of compiled graphs, each in the program's own thread, and tells what came out."""

    def __init__(self, tell: Callable[[Fact], None], write: Callable[[str, bytes], bool]) -> None:
        """`tell` receives the facts; `write` writes a file of the dump."""
        self.asked: NumericsRequest | None = None
        """What is checked."""
        self.is_on = False
        """Graphs that are compiled now are checked."""
        self.eager: EagerCheck | None = None
        self._add = tell
        self._write = write
        self._room = Room(0, write)
        self.lowered: weakref.WeakKeyDictionary[Any, Lowered] = weakref.WeakKeyDictionary()
        """torch's GraphLowering → what its nodes were lowered to."""
        self.levels = Levels()
        self.origins = Origins()
        self.packages = Packages()
        self._recorder: Recorder | None = None
        self._ends = False
        """The recorder is finished when the process ends."""
        self._lock = threading.Lock()
        """Held during a check: the code of a module can have calls around its launches for one thread only."""
        os.register_at_fork(after_in_child=self._forked)

    def ask(self, asked: NumericsRequest | None) -> None:
        """Check graphs that are compiled from now on, and no longer those of before; None: no graphs."""
        self._end()
        self.asked = asked
        self._recorder = Recorder(asked, self._add, self._lock) if asked is not None and asked.recorder else None
        self.is_on = asked is not None
        self.levels.is_on = asked is not None
        self.eager = (
            EagerCheck(asked, self._add) if asked is not None and asked.eager and not asked.only_nonfinite else None
        )
        self._room = Room(0 if asked is None else asked.keep, self._write)

    def loaded(self, graph: str, lowering: Any, code: Any) -> Callable[[list[Any]], Any] | None:
        """The code of a graph was loaded; see `codegen.runtime.checked`."""
        scope, asked = SCOPES.of(lowering), self.asked
        is_helper = scope is not None and scope.kind in ("constants", "autotune")
        if asked is None or is_helper or not asked.has_graph(graph):
            self.lowered.pop(lowering, None)
            return None
        levels = self.levels.take()
        is_backward = scope is not None and scope.kind == "backward"
        origin = self.origins.of(levels[0].module, is_backward=is_backward) if levels else None
        try:
            if code.reason and asked.only_nonfinite:
                return self._refused(graph, code, code.reason)
            if code.lost:
                lost = ", ".join(code.lost[:3])
                self.tell(NumericsCall(graph=graph, reason=f"not found in a function of the code: {lost}"))
            taken: dict[int, Lowered] = {}
            found = plan(lowering, _graph_of, lambda one: taken.setdefault(id(one), self.lowered.pop(one, Lowered())))
        except Exception as error:
            let_pass(error)
            return self._refused(graph, code, f"{type(error).__name__}: {error}"[:300])
        self.tell(NumericsCall(graph=graph, stage=LOADED))
        for one in code.changed[:_CHANGED]:
            self.tell(LoadedLine(graph=graph, line=one.line, generated=one.generated, loaded=one.loaded))
        if self._recorder is not None:
            self._ended_early()
            calls = GraphCalls(found, code, "inference" if scope is None else scope.kind, self._recorder.room)
            return inside(self._recorder, calls) if calls.is_watched else None
        check: FiniteCheck | LaunchCheck
        if asked.nonfinite:
            check = FiniteCheck(found, code, self.tell, self._lock)
        else:
            keeper = Keeper(found, code, self._room, self.tell)
            upstream = (
                UpstreamCheck(graph, levels[0], origin, is_backward=is_backward, always_exact=asked.exact)
                if origin is not None
                else None
            )
            check = LaunchCheck(found, levels, upstream, code, asked, self.tell, self._lock, keeper)
        module = found.module
        done = 0
        is_told = False

        def call(args: list[Any]) -> Any:
            nonlocal done, is_told
            done += 1
            is_checked = self.asked is asked and asked.has_call(done)
            if is_checked and not asked.nonfinite:
                self.tell(NumericsCall(graph=graph, call=done, stage=BEGUN))
            elif self.asked is asked and not is_checked and not is_told:
                is_told = True
                self.tell(NumericsCall(graph=graph, call=done, stage=NOT_ASKED))
            if self.eager is not None:
                self.eager.ran(graph)
            inputs = [] if self.eager is None else list(args)
            found = check.call(args, done) if is_checked else code.call(args)
            traced = check.upstream.taken() if isinstance(check, LaunchCheck) and check.upstream is not None else None
            if self.eager is not None:
                self.eager.returned(graph, done, module, Left(found, inputs), traced)
            return found

        return call

    def without_code(self, module: Any, found: Any, *, is_backward: bool) -> Any:
        """What torch `found` for a graph; with a check of its calls if it has no operation, and so no code to load."""
        asked = self.asked
        if asked is None or asked.only_nonfinite or asked.graphs or not no_operation.has_no_operation(module, found):
            return found
        try:
            origin = self.origins.of(module, is_backward=is_backward)
            return no_operation.checked(module, found, origin, asked, self.tell, is_backward=is_backward)
        except Exception as error:
            let_pass(error)
            return found

    def _refused(self, graph: str, code: Any, reason: str) -> Callable[[list[Any]], Any]:
        """The graph's function, of which no call can be checked: that is told once there is one."""
        is_told = False

        def call(args: list[Any]) -> Any:
            nonlocal is_told
            if not is_told:
                is_told = True
                self.tell(NumericsCall(graph=graph, call=1, reason=reason))
            return code.call(args)

        return call

    def _ended_early(self) -> None:
        """Finish before what calls need is taken down: at exit torch forgets operators that are defined in Python."""
        if not self._ends:
            self._ends = True
            atexit.register(self._end)

    def _end(self) -> None:
        if self._recorder is not None:
            self._recorder.finish()

    def _forked(self) -> None:
        if self._recorder is not None:
            self._recorder.forget()

    def tell(self, fact: Fact) -> None:
        """Something was found in this thread."""
        if self.eager is None or not self.eager.holds(fact):
            self._add(fact)


def _graph_of(lowering: Any) -> str:
    scope = SCOPES.of(lowering)
    return "" if scope is None else scope.graph


def install(check: Check) -> None:
    """Remember from now on what each FX node is lowered to."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def run_node(lowering: Any, node: Any) -> Any:
            if not check.is_on:
                return plain(lowering, node)
            before = len(lowering.operations)
            result = plain(lowering, node)
            lowered = check.lowered.setdefault(lowering, Lowered())
            lowered.results.append((node.name, result))
            if node.op == "get_attr" and "." not in node.target:
                lowered.constants[node.target] = getattr(lowering.module, node.target, None)
            for operation in lowering.operations[before:]:
                lowered.makers.setdefault(operation.get_operation_name(), node.name)
            return result

        return run_node

    replace(importlib.import_module(names.RUN_NODE.module), names.RUN_NODE, watched)
    patterns.install(lambda: check.is_on)
