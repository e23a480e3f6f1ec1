"""All hooks of one process: where they are installed, and what they are called with."""

import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from inspect_compile.at_start import AtStart
from inspect_compile.dump import Writer
from inspect_compile.facts import Fact, Hook
from inspect_compile.interrupts import let_pass
from inspect_compile.outermost import leave_traceback
from inspect_compile.probe.harmless import Guard, describe, on_fresh_stack, uncounted
from inspect_compile.probe.hook import ALWAYS_TIMED, HookState
from inspect_compile.probe.notes import ENDED, FAILED, MOST_NOTES, ThreadCallBuffer
from inspect_compile.probe.replaced import Watched, replace
from inspect_compile.probe.untraced import untraced
from inspect_compile.probe.without_frame import Around, between
from inspect_compile.torch_compat import Name

ALL_THE_TIME = 64
"""For functions that are called very often, one call in this many is timed, and counts for all of them."""

NOTHING: Final = object()
"""Answer of `Probes.sift`: as if the cache were empty."""

Before = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""(instance, args, kwargs) → state for `after`. The arguments are the program's: do not modify them, and keep no
reference.
"""
After = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], Any], None]
"""(state, instance, args, kwargs, result). Not called if `before` failed."""
Failed = Callable[[Any, Any, tuple[Any, ...], dict[str, Any], BaseException], None]
"""(state, instance, args, kwargs, exception), when the watched function raised. The exception propagates unchanged."""

Followed = Callable[[Any, tuple[Any, ...], Any], None]
"""(instance, args, result)."""


def argument(args: tuple[Any, ...], kwargs: dict[str, Any], position: int, name: str, default: Any = None) -> Any:
    """One argument of a watched call, which torch may pass by position, counted from 0 after the
    instance, or by name.
    """
    return args[position] if len(args) > position else kwargs.get(name, default)


Starts = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
"""(instance, args, kwargs) → state for `Called`."""
Called = Callable[[Any, float, float], None]
"""(state, when the call began in seconds since the epoch, how many it took)."""


class Account(Protocol):
    """Something that is counted while the program runs."""

    def facts(self) -> list[Fact]:
        """Its current rows, of any kinds."""

    def forget(self) -> None:
        """Start counting again."""


_CALLED: Final = (Guard.guard, Guard.untimed, Around.from_param, Around.stop, leave_traceback)
"""All that what stands in the place of a function of torch's calls of ours."""


class Probes(Guard):
    """All hooks of one process."""

    def __init__(self, sink: Writer) -> None:
        super().__init__(sink)
        self.hooks: list[HookState] = []
        self.accounts: list[Account] = []
        self.pass_over_caches = True
        """Whether torch's graph caches miss. Not with `--cache keep`, and not while a capture is closed."""
        self.reuses_facts = False
        """Whether torch's graph caches may serve a compile whose facts are kept, with `--cache auto`."""
        self.versions: Callable[[], tuple[str, ...]] = tuple
        """Returns the versions of all that decides what is recorded."""
        self.keeps_texts = True
        """Whether FX graphs and IR are rendered as texts."""
        self.open_door: Callable[[dict[str, str]], None] | None = None
        """Changes the environment of a process that is about to start so that it is watched too; None in a capture."""
        self.close_door: Callable[[dict[str, str]], None] | None = None
        """The same so that it is not watched."""

    def wrap(
        self,
        probe: str,
        name: Name,
        *,
        before: Before | None = None,
        after: After | None = None,
        failed: Failed | None = None,
        patient: bool = False,
        fresh_stack: bool = False,
    ) -> HookState:
        """Watch the function `name`. If this torch lacks it, only this hook is lost, and the dump says so.

        With `fresh_stack` it and its hooks run on a piece of stack of their own: for what goes deep, or over a graph.
        """
        hook = HookState(probe, str(name), patient=patient)

        def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(*given: Any, **kwargs: Any) -> Any:
                try:
                    if hook.off or not (given or not is_method):
                        return plain(*given, **kwargs)
                    hook.calls += 1
                    instance, args = (given[0], given[1:]) if is_method else (None, given)
                    state = self.guard(hook, before, instance, args, kwargs) if before is not None else None
                    try:
                        result = plain(*given, **kwargs)
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

            return on_fresh_stack(watch) if fresh_stack else watch

        self._replace(hook, name, watched)
        return hook

    def follow(self, probe: str, name: Name, after: Followed) -> None:
        """Watch a method that is called very often, after it has returned.

        Like `wrap`, with a plain function instead of a proxy, and one call in ALL_THE_TIME timed.
        """
        hook = HookState(probe, str(name), ALL_THE_TIME)

        def followed(wrapped: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
                try:
                    result = wrapped(instance, *args, **kwargs)
                    if hook.off:
                        return result
                    hook.calls = calls = hook.calls + 1
                    is_timed = calls % ALL_THE_TIME == 0 or calls <= ALWAYS_TIMED
                    (self.guard if is_timed else self.untimed)(hook, after, instance, args, result)
                    return result
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._replace(hook, name, followed)

    def note(self, probe: str, name: Name, calls: ThreadCallBuffer, label: str, *, has_inner: bool = False) -> None:
        """Store each call of a method, and with `has_inner` its end: the cheapest hook.

        For a static method the first argument is taken for the instance. The stored calls are processed many at a time;
        only that time counts as the hook's cost.
        """
        hook = HookState(probe, str(name))

        def noted(wrapped: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
                try:
                    notes = calls.notes
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
                    if len(notes) >= MOST_NOTES:
                        self.guard(hook, notes.flush)
                    return result
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._replace(hook, name, noted)

    def count(self, probe: str, name: Name, before: Callable[[Any], None]) -> None:
        """Watch a method of the running program: `before` gets the instance.

        Its cost is not measured: it must be no more than that of a counter.
        """
        hook = HookState(probe, str(name))

        def counted(wrapped: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
                try:
                    if hook.off:
                        return wrapped(instance, *args, **kwargs)
                    hook.calls += 1
                    self.untimed(hook, before, instance)
                    return wrapped(instance, *args, **kwargs)
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._replace(hook, name, counted)

    def tell_accounts(self) -> None:
        """Write the current rows of all accounts; one that fails is recorded, and does not affect the others."""
        for account in self.accounts:
            try:
                for fact in account.facts():
                    self.sink.add(fact)
            except Exception as error:
                let_pass(error)
                self.sink.add(
                    Hook(probe=type(account).__name__, target="at the end", state="failed", reason=describe(error))
                )

    def first_calls(self, probe: str, name: Name, attribute: str, starts: Starts, called: Called) -> None:
        """Watch one call of the function in `attribute` of each object that the method `name` has made ready to be
        called: the first that returns.

        The object then has its own function back: all later calls are as they are without us.
        """

        def ready(state: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
            plain = getattr(instance, attribute)
            if plain is None:
                return
            of, started = weakref.ref(instance), starts(instance, args, kwargs)
            began = start = 0.0

            def begins() -> None:
                nonlocal began, start
                began, start = AtStart.time(), AtStart.perf_counter()

            def ended() -> None:
                seconds = AtStart.perf_counter() - start
                known = of()
                if known is not None and id(getattr(known, attribute)) == number:
                    setattr(known, attribute, plain)
                    if not hook.off:
                        hook.calls += 1
                        called(started, began, seconds)

            watched = between(
                plain, functools.partial(self.untimed, hook, begins), functools.partial(self.guard, hook, ended)
            )
            number = id(watched)  # no reference: it would be a cycle, which keeps the generated code until a collection
            setattr(instance, attribute, watched)

        hook = self.wrap(probe, name, after=ready)

    def answer(
        self, probe: str, name: Name, kind: type, instead: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
    ) -> None:
        """Answer for the function `name`, which only prints or looks something up, with a value of type `kind`.

        If `instead` returns NotImplemented or a value of another type, or fails, torch's own function runs.
        """
        hook = HookState(probe, str(name))

        def checked(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            answer = instead(instance, args, kwargs)
            if answer is not NotImplemented and not isinstance(answer, kind):
                raise TypeError(f"the answer is of type {type(answer).__name__}, not {kind.__name__}")
            return answer

        def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(*given: Any, **kwargs: Any) -> Any:
                try:
                    if not hook.off and (given or not is_method):
                        hook.calls += 1
                        instance, args = (given[0], given[1:]) if is_method else (None, given)
                        answer = self.guard(hook, checked, instance, args, kwargs)
                        if isinstance(answer, kind):
                            return answer
                    return plain(*given, **kwargs)
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._replace(hook, name, watched)

    def sift(self, probe: str, name: Name, choose: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
        """Watch the function `name`, which iterates over what a cache has.

        `choose` returns None (all of it may be taken), NOTHING, or a function that says of each whether it may be;
        where one of them fails, torch's own function decides.
        """
        hook = HookState(probe, str(name), patient=True)

        def watched(plain: Callable[..., Any], *, is_method: bool) -> Callable[..., Any]:
            def watch(*given: Any, **kwargs: Any) -> Any:
                try:
                    chosen = None
                    if not hook.off and (given or not is_method):
                        hook.calls += 1
                        instance, args = (given[0], given[1:]) if is_method else (None, given)
                        chosen = self.guard(hook, choose, instance, args, kwargs)
                    if chosen is NOTHING:
                        return iter(())
                    found = plain(*given, **kwargs)
                    return found if chosen is None else self._sifted(hook, found, chosen)
                except BaseException as error:
                    leave_traceback(error)
                    raise

            return watch

        self._replace(hook, name, watched)

    def _sifted(self, hook: HookState, found: Iterable[Any], is_wanted: Callable[[Any], bool]) -> Iterator[Any]:
        for one in found:
            if hook.off or self.guard(hook, is_wanted, one) is not False:
                yield one

    def listen(
        self, probe: str, name: Name, method: str, heard: Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
    ) -> None:
        """Watch the calls of `method` on the class `name`, which answers any name through `__getattr__`.

        torch's result is returned unchanged.
        """
        hook = HookState(probe, f"{name}.{method}")

        def called(instance: Any, /, *args: Any, **kwargs: Any) -> Any:
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
                called.__name__, called.__module__ = method, name.module
                called.__qualname__ = f"{name.attribute}.{method}"
                setattr(owner, method, uncounted(on_fresh_stack(called)))

        self._install(hook, name, install)

    def _replace(self, hook: HookState, name: Name, watched: Watched) -> None:
        self._install(hook, name, lambda module: replace(module, name, watched))

    def _install(self, hook: HookState, name: Name, install: Callable[[Any], Any]) -> None:
        self.hooks.append(hook)
        untraced(*_CALLED, what_they_call=True)
        try:
            install(sys.modules[name.module])
        except (AttributeError, KeyError) as error:
            let_pass(error)
            hook.state, hook.reason, hook.off = (
                "missing",
                f"{type(error).__name__}: {error} (seen in torch {name.versions})",
                True,
            )
            hook.since = name.versions.partition("-")[0]
            self.record(hook)
