"""Hands the loaded code of each graph to a check, which may run it with calls around its launches.

Not a probe: it replaces the `call` of generated modules. It is loaded only by the command that checks numerics. The
module's file, and its functions outside of a check, stay as torch wrote them.
"""

import ast
import contextlib
import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

from inspect_compile.codegen.numerics.loaded_sources import source_of
from inspect_compile.codegen.numerics.operations import Lines, bodies_of, lines_for
from inspect_compile.codegen.numerics.probed_kernel import WithPoints, probed_kernel
from inspect_compile.codegen.numerics.stored_roundings import rounds_only_stored, triton_rounds_only_stored
from inspect_compile.codegen.numerics.triton_kernel import triton_kernel, triton_source
from inspect_compile.codegen.runtime.loaded_code import Changed, LoadedLaunches, first_statement, names_in, places
from inspect_compile.codegen.runtime.timed_code import WithCalls, with_calls
from inspect_compile.codegen.wrapper.wrapper import CALLS, Calls
from inspect_compile.lowering.core.nested_graphs import nested_graphs
from inspect_compile.lowering.core.scopes import SCOPES
from inspect_compile.probe import replace
from inspect_compile.torch_compat import call_path as names


@dataclass(frozen=True)
class Launch:
    """One launching statement of the generated code."""

    graph: str
    kernel: str
    line: int
    """Line number in output_code.py."""
    names: tuple[str, ...]
    """The names in the statement, each once."""
    operations: tuple[str, ...]
    """All operations of the kernel, which may have other launches too."""
    is_made: bool = True
    """False for one that torch generated and that the loaded code does not make."""


class Watcher(Protocol):
    """Called around the launches."""

    def before(self, launch: Launch, local: dict[str, Any]) -> Any:
        """The launch is next; `local` has the variables of the generated function."""

    def after(self, launch: Launch, state: Any, local: dict[str, Any]) -> None:
        """It has been made; `state` is what `before` returned."""


class Check(Protocol):
    """What decides which calls are checked."""

    def loaded(self, graph: str, lowering: Any, code: "Code") -> Callable[[list[Any]], Any] | None:
        """The code of `lowering` (torch's GraphLowering) was loaded. Returns what is called in the place of
        `code.call`, if anything is.
        """


class Code:
    """The generated code of one graph."""

    def __init__(self, module: Any, call: Callable[[list[Any]], Any], reason: str = "") -> None:
        self.call = call
        """The graph's function, as torch made it."""
        self.reason = reason
        """Why nothing can be called around its launches; empty if that is possible."""
        self.source = ""
        """The module's source, its kernels included."""
        self.lost: list[str] = []
        """Kernels whose launches are in no function."""
        self.aliases: dict[str, str] = {}
        """Variable → the variable whose memory it has: reused, or a view."""
        self.launches: list[Launch] = []
        """All that were found, as their lines follow in the source."""
        self.changed: tuple[Changed, ...] = ()
        """The lines that were loaded in another form than torch generated them."""
        self.bodies: Mapping[str, Sequence[Lines]] = {}
        """C++ kernel → the operations of its statements, for each group that it was generated for."""
        self._module = module
        self._runner = getattr(call, "__self__", None)
        self._parts = list(getattr(self._runner, names.PARTITIONS, ()))
        self._calls = WithCalls({}, {}, [])
        self._watcher: Watcher | None = None

    def read(self, source: str, path: str, calls: Calls, found: LoadedLaunches) -> None:
        """Find the launches, which are at these places in `source`."""
        self.source = source
        self.changed = found.changed
        tree, generated = ast.parse(source), calls.text.splitlines()
        lines: dict[int, list[tuple[str, str, int]]] = {}
        for graph, kernel, own, _ in calls.launches:
            line = found.lines.get(own)
            if line is None and own in found.missing:  # it would be made before the next statement
                line = first_statement(tree, found.missing[own])
            if line is None:
                self.lost.append(kernel)
            else:
                lines.setdefault(line, []).append((graph, kernel, own))
        statements: dict[int, list[Launch]] = {line: [] for line in lines}
        around = {
            line: (functools.partial(self._before, waiting), functools.partial(self._after, waiting))
            for line, waiting in statements.items()
        }
        self._calls = with_calls(self._module, source, path, around, given="locals()")
        for line, graph, kernel, own in [(line, *one) for line, all_ in lines.items() for one in all_]:
            statement = self._calls.found.get(line)
            if statement is None:
                self.lost.append(kernel)
                continue
            is_made = own in found.lines
            used = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)] if is_made else []
            if found.changed:  # what it was to write counts, too, if something else stands there
                used += names_in(generated[own - 1])
            operations = calls.operations.get((graph, kernel, own), ())
            launch = Launch(graph, kernel, own, tuple(dict.fromkeys(used)), operations, is_made)
            statements[line].append(launch)
            self.launches.append(launch)
        for waiting in statements.values():
            waiting.sort(key=lambda launch: (launch.is_made, launch.line))
        self.launches.sort(key=lambda launch: launch.line)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                origin = _same_memory(node.value)
                if origin:
                    self.aliases[node.targets[0].id] = origin

    def constant(self, name: str) -> Any:
        """What the module's global variable of that name has; None if there is none."""
        return vars(self._module).get(name)

    @contextlib.contextmanager
    def as_generated(self) -> Iterator[Callable[[list[Any]], Any]]:
        """The graph's function, whose parts are not replayed as CUDA graphs in this block."""
        now = list(getattr(self._runner, names.PARTITIONS, ()))
        if not now:
            yield self.call
            return
        setattr(self._runner, names.PARTITIONS, self._parts)
        try:
            yield self.call
        finally:
            setattr(self._runner, names.PARTITIONS, now)

    @contextlib.contextmanager
    def watched(self, watcher: Watcher) -> Iterator[Callable[[list[Any]], Any]]:
        """The same function, which calls `watcher` in this block."""
        self._watcher = watcher
        vars(self._module).update(self._calls.names)
        plain = [(function, function.__code__) for function, _ in self._calls.codes]
        for function, code in self._calls.codes:
            function.__code__ = code
        try:
            with self.as_generated() as call:
                yield call
        finally:
            for function, code in plain:
                function.__code__ = code
            for name in self._calls.names:
                vars(self._module).pop(name, None)
            self._watcher = None

    def probed(self, kernel: str, buffer: str) -> WithPoints | str:
        """The kernel, as the launch that writes `buffer` has it, in a form that can be run with the values of its
        statements written out; or why there is none.
        """
        function, lines = vars(self._module).get(kernel), lines_for(self.bodies.get(kernel, ()), buffer)
        found = triton_kernel(function, lines, self.source)
        return probed_kernel(function, lines) if found is None else found

    def rounds_only_stored(self, kernel: str) -> bool:
        """True for a kernel that is known to round to half types only what it stores."""
        function = vars(self._module).get(kernel)
        source, triton = source_of(function), triton_source(function)
        if source is None:
            return triton is not None and triton_rounds_only_stored(*triton)
        return rounds_only_stored(source)

    @contextlib.contextmanager
    def replaced(self, kernel: str, function: Callable[..., None]) -> Iterator[None]:
        """Launches of `kernel` call `function` in this block."""
        plain = vars(self._module)[kernel]
        # Triton's kernels are objects, whose `run` takes the stream too.
        launched = SimpleNamespace(run=lambda *args, **_: function(*args)) if hasattr(plain, "run") else function
        vars(self._module)[kernel] = launched
        try:
            yield
        finally:
            vars(self._module)[kernel] = plain

    def _before(self, launches: list[Launch], local: dict[str, Any]) -> Any:
        """`launches`: those that are not made, and the one that is, if the statement is one."""
        watcher = self._watcher
        if watcher is None:
            return None
        for one in launches:
            if one.is_made:
                return watcher.before(one, local)
            watcher.after(one, watcher.before(one, local), local)
        return None

    def _after(self, launches: list[Launch], state: Any, local: dict[str, Any]) -> None:
        if self._watcher is not None and launches and launches[-1].is_made:
            self._watcher.after(launches[-1], state, local)


def install(check: Check) -> None:
    """Hand each graph's code to `check` from now on."""

    def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
        def load(lowering: Any, *args: Any, **kwargs: Any) -> Any:
            module = plain(lowering, *args, **kwargs)
            scope = SCOPES.of(lowering)
            calls = None if scope is None else scope.stash.pop(CALLS, None)
            if scope is not None:
                code = _code(module, calls)
                code.bodies = dict(_bodies(lowering))
                call = check.loaded(scope.graph, lowering, code)
                if call is not None:
                    functools.update_wrapper(call, module.call)
                    module.call = call
            return module

        return load

    replace(importlib.import_module(names.LOAD.module), names.LOAD, watched)


def _bodies(lowering: Any) -> Iterator[tuple[str, Sequence[Lines]]]:
    """Those of a graph's kernels, and of the kernels of graphs that are nested in it."""
    scope = SCOPES.of(lowering)
    if scope is not None:
        yield from bodies_of(scope).items()
    for inner in nested_graphs(lowering):
        yield from _bodies(inner.lowering)


def _code(module: Any, calls: Calls | None) -> Code:
    # torch keeps loaded modules: one that two graphs share may have been handed over before.
    call = getattr(module.call, "__wrapped__", module.call)
    path = str(getattr(module, "__file__", None) or "")
    if calls is None or not path.endswith(".py"):
        return Code(
            module, call, "the generated code is not Python" if calls is not None else "its launches are unknown"
        )
    source = Path(path).read_text(encoding="utf-8")
    found = places(calls.text, source, {line: kernel for _, kernel, line, _ in calls.launches})
    if found is None:
        return Code(module, call, "the loaded code is not the code that torch generated")
    code = Code(module, call)
    code.read(source, path, calls, found)
    return code


def _same_memory(value: ast.expr) -> str:
    """The variable that an assigned value has its memory from; empty if it is not a plain reuse or view."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "reinterpret_tensor" and value.args:
        value = value.args[0]
    return value.id if isinstance(value, ast.Name) else ""
