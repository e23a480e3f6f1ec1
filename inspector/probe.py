"""What makes a hook harmless. A probe only observes; what goes wrong in it becomes a fact, and the program goes on.

Knows nothing of torch: a probe names the module that it watches, and is handed that module once the program has imported it.
"""

import time
import traceback
from collections.abc import Callable
from typing import Any, Protocol

import wrapt

from inspect_compile.dump import Writer
from inspect_compile.facts import Fact, Hook

SLOW_SECONDS = 2.0
SLOW_SHARE = 0.05
"""A hook that has cost more than both, the share being that of the process's life, stands aside."""

Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""(instance, args, kwargs) → state for `after`. The arguments are the program's own: look, and keep no reference."""
After = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], Any], None]
"""(state, instance, args, kwargs, result). Not called where `before` failed."""
Failed = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], BaseException], None]
"""(state, instance, args, kwargs, exception), when the watched function raised. The exception goes on as it was."""


class Sink(Protocol):
    """Where a probe puts what it saw."""

    def add(self, fact: Fact) -> None: ...

    def flush(self) -> None: ...

    def text(self, name: str, text: str) -> None: ...


class HookState:
    """One hook's life: installed, then perhaps failed; its calls and its cost in seconds of our own code."""

    def __init__(self, probe: str, target: str) -> None:
        self.probe, self.target = probe, target
        self.off = False
        self.calls = 0
        self.seconds = 0.0
        self.state, self.reason = "installed", ""

    def fact(self, state: str | None = None) -> Hook:
        """The state as a fact."""
        return Hook(probe=self.probe, target=self.target, state=state or self.state, reason=self.reason, calls=self.calls, seconds=round(self.seconds, 6))


class Probes:
    """All hooks of one process. `sink` is where they write; it can be exchanged (after a fork)."""

    def __init__(self, sink: Writer) -> None:
        self.sink = sink
        self.hooks: list[HookState] = []
        self._born = time.perf_counter()

    def guard(self, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        """Run a part of a hook: its time is counted, an error turns the hook off and is recorded. Returns None then.

        KeyboardInterrupt and SystemExit are the program's own and pass.
        """
        start = time.perf_counter()
        try:
            return call(*args)
        except Exception as error:
            hook.off = True
            hook.state = "failed"
            hook.reason = describe(error)
            # The traceback holds the frames of the compiler, and with them tensors: nothing of it may outlive this.
            error.__traceback__ = None
            self._record(hook)
            return None
        finally:
            hook.seconds += time.perf_counter() - start
            if hook.seconds > SLOW_SECONDS and hook.seconds > SLOW_SHARE * (time.perf_counter() - self._born):
                hook.off = True
                hook.state, hook.reason = "failed", f"stood aside: it cost {hook.seconds:.1f} s in {hook.calls} calls"
                self._record(hook)

    def note(self, probe: str, target: str, state: str, reason: str) -> None:
        """Record a hook that could not be set at all."""
        hook = HookState(probe, target)
        hook.state, hook.reason, hook.off = state, reason, True
        self.hooks.append(hook)
        self._record(hook)

    def wrap(
        self, probe: str, module: Any, name: str, *, before: Before | None = None, after: After | None = None, failed: Failed | None = None
    ) -> HookState | None:
        """Watch `module.name` (`Class.method` or a function). A name that this torch lacks costs only this hook."""
        target = f"{module.__name__}.{name}"
        hook = HookState(probe, target)

        def watch(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if hook.off:
                return wrapped(*args, **kwargs)
            hook.calls += 1
            state = self.guard(hook, before, instance, args, kwargs) if before is not None else None
            if failed is None:
                result = wrapped(*args, **kwargs)
            else:
                try:
                    result = wrapped(*args, **kwargs)
                except BaseException as error:
                    if not hook.off:
                        self.guard(hook, failed, state, instance, args, kwargs, error)
                    raise
            if after is not None and not hook.off:
                self.guard(hook, after, state, instance, args, kwargs, result)
            return result

        try:
            wrapt.wrap_function_wrapper(module, name, watch)
        except AttributeError as error:
            self.note(probe, target, "missing", str(error))
            return None
        self.hooks.append(hook)
        return hook

    def _record(self, hook: HookState) -> None:
        self.sink.add(hook.fact())


def describe(error: BaseException) -> str:
    """An error of ours in one line: its kind, its text, and where in our code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)]
    place = f" at {frames[-1].name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:300]}{place}"
