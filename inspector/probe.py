"""What makes a hook harmless. A probe only observes; what goes wrong in it becomes a fact, and the program goes on.

Knows nothing of torch: a probe names the module that it watches, and is handed that module once the program has
imported it.
"""

import functools
import inspect
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable
from typing import Any, Protocol

import wrapt

from inspect_compile.dump import Writer
from inspect_compile.facts import Fact, Hook
from inspect_compile.torch_compat import Name

SLOW_SECONDS = 2.0
SLOW_SHARE = 0.05
"""A hook that has cost more than both, the share being that of the time that was spent compiling, stands aside."""
PAUSE_SECONDS = 10.0
"""Where hooks are silent for longer than this, nothing was compiled in between."""

ALL_THE_TIME = 64
_ALWAYS_TIMED = 2
"""Of functions that are called more than all others, one call in so many is timed, and counts for all of them; and the
first ones, so that a slow hook does not slow many."""

Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""(instance, args, kwargs) → state for `after`. The arguments are the program's own: look, and keep no reference."""
After = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], Any], None]
"""(state, instance, args, kwargs, result). Not called where `before` failed."""
Failed = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], BaseException], None]
"""(state, instance, args, kwargs, exception), when the watched function raised. The exception goes on as it was."""

Followed = Callable[[Any, tuple[Any, ...], Any], None]
"""(instance, args, result)."""


class Account(Protocol):
    """What is counted while the program runs."""

    def facts(self) -> list[Fact]:
        """Its rows so far, of any kinds."""

    def forget(self) -> None:
        """Begin to count again."""


class HookState:
    """One hook's life: installed, then perhaps failed; its calls and its cost in seconds of our own code."""

    def __init__(self, probe: str, target: str, every: int = 1, *, patient: bool = False) -> None:
        self.probe, self.target = probe, target
        self.off = False
        self.patient = patient
        """May it take its time? A person asked for what it does."""
        self.every = every
        """One call in so many is timed."""
        self.calls = 0
        self.seconds = 0.0
        self._last: dict[object, float] = {}
        """Part of the hook → what it cost when it was timed last, where not each call is."""
        self.state, self.reason = "installed", ""

    def cost(self, part: object, seconds: float) -> None:
        """A call of a part of the hook was timed: it counts for those that were not.

        The first one may have had more to do, and one that was interrupted must not stand for all.
        """
        self.seconds += seconds
        if self.every > 1:
            self.seconds += (self.every - 1) * min(seconds, self._last.get(part, 0.0))
            self._last[part] = seconds

    def fact(self, state: str | None = None) -> Hook:
        """The state as a fact."""
        return Hook(
            probe=self.probe,
            target=self.target,
            state=state or self.state,
            reason=self.reason,
            calls=self.calls,
            seconds=round(self.seconds, 6),
        )


class Notes(list[tuple[str, Any, Any]]):
    """Calls that were written down, in their order, until `take` is given them.

    A call is (label, instance, arguments); the end of one that has others inside is (ENDED, result, None) or
    (FAILED, None, None).
    """

    def __init__(self, take: Callable[[list[tuple[str, Any, Any]]], None]) -> None:
        super().__init__()
        self._take = take

    def flush(self) -> None:
        """Give them away."""
        taken = self[:]
        self.clear()
        self._take(taken)


ENDED, FAILED = "ended", "failed"
_MOST_NOTES = 128


class Desk(threading.local):
    """Where what runs on a thread is written down; None where nothing of it is."""

    notes: Notes | None = None


class _Nested(threading.local):
    """Seconds that hooks have cost inside the hook that runs on this thread: they are counted as theirs alone."""

    seconds = 0.0


class Probes:
    """All hooks of one process. `sink` is where they write; it can be exchanged (after a fork)."""

    def __init__(self, sink: Writer) -> None:
        self.sink = sink
        self.hooks: list[HookState] = []
        self.accounts: list[Account] = []
        self.pass_over_caches = True
        """Do torch's graph caches miss? Not with `--cache keep`, and not while a capture is closed."""
        self.keeps_texts = True
        """Are FX graphs and IR rendered as texts?"""
        self.open_door: Callable[[dict[str, str]], None] | None = None
        """Changes the environment of a process that is about to start so that it is watched too; None in a capture."""
        self.spent = 0.0
        """Seconds that all hooks have cost."""
        self._compiling = 0.0
        """Seconds spent compiling, as far as hooks can tell."""
        self._last = time.perf_counter()
        self._nested = _Nested()

    def guard(self, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        """Run a part of a hook: its time is counted, an error turns the hook off and is recorded. Returns None then.

        What is the program's own passes, without a trace of us: KeyboardInterrupt, SystemExit, and what a signal
        handler of the program raises while we run.
        """
        start = time.perf_counter()
        before, self._nested.seconds = self._nested.seconds, 0.0
        try:
            return call(*args)
        except BaseException as error:
            if not self._fails(hook, error):
                raise
            return None
        finally:
            now = time.perf_counter()
            known = hook.seconds
            hook.cost(call, now - start - self._nested.seconds)
            self.spent += hook.seconds - known
            self._nested.seconds = before + now - start
            self._compiling += now - (self._last if start - self._last < PAUSE_SECONDS else start)
            self._last = now
            if not hook.patient and hook.seconds > SLOW_SECONDS and hook.seconds > SLOW_SHARE * self._compiling:
                hook.off = True
                hook.state, hook.reason = "failed", f"stood aside: it cost {hook.seconds:.1f} s in {hook.calls} calls"
                self._record(hook)

    def _untimed(self, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        try:
            return call(*args)
        except BaseException as error:
            if not self._fails(hook, error):
                raise
            return None

    def _fails(self, hook: HookState, error: BaseException) -> bool:
        """Turn a hook off for an error of ours; False for what is the program's own."""
        handler = _in_signal_handler(error.__traceback__)
        if handler is not None or not isinstance(error, Exception):
            error.__traceback__ = handler
            return False
        hook.off = True
        hook.state = "failed"
        hook.reason = describe(error)
        # The traceback holds the frames of the compiler, and with them tensors: nothing of it may outlive this.
        error.__traceback__ = None
        self._record(hook)
        return True

    def wrap(
        self,
        probe: str,
        name: Name,
        *,
        before: Before | None = None,
        after: After | None = None,
        failed: Failed | None = None,
        patient: bool = False,
    ) -> None:
        """Watch the function `name`. One that this torch lacks costs only this hook, and the dump says so."""
        hook = HookState(probe, str(name), patient=patient)

        def watch(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            try:
                if hook.off:
                    return wrapped(*args, **kwargs)
                hook.calls += 1
                state = self.guard(hook, before, instance, args, kwargs) if before is not None else None
                try:
                    result = wrapped(*args, **kwargs)
                except BaseException as error:
                    if failed is not None and not hook.off:
                        self.guard(hook, failed, state, instance, args, kwargs, error)
                    raise
                if after is not None and not hook.off:
                    self.guard(hook, after, state, instance, args, kwargs, result)
                return result
            except BaseException as error:
                leave_traceback(error)
                raise

        self._install(hook, name, lambda module: _place(module, name, watch))

    def follow(self, probe: str, name: Name, after: Followed) -> None:
        """Watch a method that is called all the time, when it has returned.

        As `wrap` does, with a plain function in the place of a proxy, and one call in ALL_THE_TIME timed.
        """
        hook = HookState(probe, str(name), ALL_THE_TIME)

        self._install(
            hook, name, lambda module: _replace(module, name, lambda wrapped: self._followed(hook, wrapped, after))
        )

    def _followed(self, hook: HookState, wrapped: Callable[..., Any], after: Followed) -> Callable[..., Any]:
        @functools.wraps(wrapped)
        def watch(instance: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                result = wrapped(instance, *args, **kwargs)
                if hook.off:
                    return result
                hook.calls = calls = hook.calls + 1
                guard = self._untimed if calls > _ALWAYS_TIMED and calls % ALL_THE_TIME else self.guard
                guard(hook, after, instance, args, result)
                return result
            except BaseException as error:
                leave_traceback(error)
                raise

        return watch

    def note(self, probe: str, name: Name, desk: Desk, label: str, *, has_inner: bool = False) -> None:
        """Write each call of a method down, and with `has_inner` its end: nothing of ours costs less.

        Of a static one the first argument is taken for the instance. The notes are given away many at a time, which is
        the only time that counts as the hook's.
        """
        hook = HookState(probe, str(name))

        def noted(wrapped: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(wrapped)
            def watch(instance: Any, *args: Any, **kwargs: Any) -> Any:
                try:
                    notes = desk.notes
                    if hook.off or notes is None:
                        return wrapped(instance, *args, **kwargs)
                    hook.calls += 1
                    notes.append((label, instance, args))
                    if has_inner:
                        try:
                            result = wrapped(instance, *args, **kwargs)
                        except BaseException:
                            notes.append((FAILED, None, None))
                            raise
                        notes.append((ENDED, result, None))
                    else:
                        result = wrapped(instance, *args, **kwargs)
                    if len(notes) >= _MOST_NOTES:
                        self.guard(hook, notes.flush)
                    return result
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._install(hook, name, lambda module: _replace(module, name, noted))

    def count(
        self,
        probe: str,
        name: Name,
        *,
        before: Callable[[Any], None] | None = None,
        after: Callable[[Any, Any], None] | None = None,
    ) -> None:
        """Watch a method of the running program: `before` gets the instance, `after` the instance and the result.

        What they cost is not timed: no more than a counter.
        """
        hook = HookState(probe, str(name))

        def counted(wrapped: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(wrapped)
            def watch(instance: Any, *args: Any, **kwargs: Any) -> Any:
                try:
                    if hook.off:
                        return wrapped(instance, *args, **kwargs)
                    hook.calls += 1
                    if before is not None:
                        try:
                            before(instance)
                        except BaseException as error:
                            if not self._fails(hook, error):
                                raise
                    if after is None:
                        return wrapped(instance, *args, **kwargs)
                    result = wrapped(instance, *args, **kwargs)
                    try:
                        after(instance, result)
                    except BaseException as error:
                        if not self._fails(hook, error):
                            raise
                    return result
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._install(hook, name, lambda module: _replace(module, name, counted))

    def tell_accounts(self) -> None:
        """Write the rows so far of all that is counted; what fails is told, and leaves the others."""
        for account in self.accounts:
            try:
                for fact in account.facts():
                    self.sink.add(fact)
            except Exception as error:
                self.sink.add(
                    Hook(probe=type(account).__name__, target="at the end", state="failed", reason=describe(error))
                )

    def answer(
        self, probe: str, name: Name, kind: type, instead: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
    ) -> None:
        """Answer for the function `name`, which prints, with a value of type `kind`.

        Where `instead` returns NotImplemented, or something that is no such value, or fails, torch's own runs.
        """
        hook = HookState(probe, str(name))

        def checked(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            answer = instead(instance, args, kwargs)
            if answer is not NotImplemented and not isinstance(answer, kind):
                raise TypeError(f"the answer is no {kind.__name__} but a {type(answer).__name__}")
            return answer

        def watch(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            try:
                if not hook.off:
                    hook.calls += 1
                    answer = self.guard(hook, checked, instance, args, kwargs)
                    if isinstance(answer, kind):
                        return answer
                return wrapped(*args, **kwargs)
            except BaseException as error:
                leave_traceback(error)
                raise

        self._install(hook, name, lambda module: _place(module, name, watch))

    def miss(self, probe: str, name: Name, asked: Callable[[Any], bool], missed: Callable[[], Any]) -> None:
        """Have the look-up `name` of a cache find nothing where `asked`, of the cache, says True.

        Where it says anything else, or fails, torch looks. What `missed` makes for it, the value that says "nothing",
        depends on nothing that could go wrong.
        """
        hook = HookState(probe, str(name))

        def watch(wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            try:
                if not hook.off:
                    hook.calls += 1
                    if self.guard(hook, asked, instance) is True:
                        return missed()
                return wrapped(*args, **kwargs)
            except BaseException as error:
                leave_traceback(error)
                raise

        self._install(hook, name, lambda module: _place(module, name, watch))

    def listen(
        self, probe: str, name: Name, method: str, heard: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
    ) -> None:
        """Hear the calls of `method` on the class `name`, which answers any name through `__getattr__`.

        Torch's answer stays.
        """
        hook = HookState(probe, f"{name}.{method}")

        def called(instance: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                if not hook.off:
                    hook.calls += 1
                    self.guard(hook, heard, instance, args, kwargs)
                return instance.__getattr__(method)(*args, **kwargs)
            except BaseException as error:
                leave_traceback(error)
                raise

        def install(module: Any) -> None:
            owner = getattr(module, name.attribute)
            if method not in vars(owner):
                setattr(owner, method, uncounted(called))

        self._install(hook, name, install)

    def _install(self, hook: HookState, name: Name, install: Callable[[Any], Any]) -> None:
        self.hooks.append(hook)
        try:
            install(sys.modules[name.module])
        except (AttributeError, KeyError) as error:
            hook.state, hook.reason, hook.off = (
                "missing",
                f"{type(error).__name__}: {error} (seen in torch {name.versions})",
                True,
            )
            self._record(hook)

    def _record(self, hook: HookState) -> None:
        self.sink.add(hook.fact())


def _place(module: Any, name: Name, watch: Callable[..., Any]) -> None:
    wrapt.wrap_function_wrapper(module, name.attribute, uncounted(watch))


def _replace(module: Any, name: Name, watched: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Put a plain function in the place of a method."""
    owner = getattr(module, name.attribute.partition(".")[0])
    method = name.attribute.rpartition(".")[2]
    watch = uncounted(watched(getattr(owner, method)))
    is_static = isinstance(inspect.getattr_static(owner, method), staticmethod)
    setattr(owner, method, staticmethod(watch) if is_static else watch)


def uncounted(function: Any) -> Any:
    """`function`, whose frame `warnings` and `logging` pass over when they count frames to say who is to blame.

    Both take a frame of this file name for one of the import system.
    """
    function.__code__ = _without_file(function.__code__)
    return function


@functools.cache
def _without_file(code: types.CodeType) -> types.CodeType:
    return code.replace(co_filename="<frozen importlib._bootstrap>")


def leave_traceback(error: BaseException) -> None:
    """Take the running except clause's own frame, the newest entry, out of the traceback: a bare `raise` adds none."""
    traceback = error.__traceback__
    error.__traceback__ = None if traceback is None else traceback.tb_next


def _in_signal_handler(found: types.TracebackType | None) -> types.TracebackType | None:
    """The part of a traceback that begins in one of the program's signal handlers, or None."""
    if found is None or found.tb_next is None:
        return None
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    codes = [code for handler in handlers if (code := getattr(handler, "__code__", None)) is not None]
    while found is not None and found.tb_frame.f_code not in codes:
        found = found.tb_next
    return found


def describe(error: BaseException) -> str:
    """An error of ours in one line: its kind, its text, and where in our code."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].name} line {frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {str(error)[:300]}{place}"
