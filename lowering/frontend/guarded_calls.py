"""How many calls of functions that Dynamo has looked at fit a compile, and how many run eagerly.

torch has a hook that it calls after each check of guards, outside of Dynamo. It may not run Python: a KeyboardInterrupt
in it would end the process, for torch's C++ catches no exception there. So what counts is made of functions in C.
"""

import functools
import io
from typing import Any, Final

import msgspec

from inspect_compile.facts import Fact, GuardedCalls
from inspect_compile.lowering.frontend.unguarded_calls import UNGUARDED
from inspect_compile.probe import Probes
from inspect_compile.probe.hook import HookState
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.guarded_calls"

_COUNTS: Final = ("checked", "fitted", "attempts", "limited", "skipped", "disabled")


class _Counts:
    """The counts of this process."""

    def __init__(self) -> None:
        self.attempts = 0
        """Frames that had been compiled and that Dynamo was asked to compile again."""
        self.limited = 0
        """Those of them that it refused because of a limit, so that the call ran eagerly."""
        self.is_counting = False
        self._place = io.BytesIO()
        """Its position is the number of calls that fitted."""
        # reduce(seek, (1,), fits) is seek(fits, 1): on by 1 or 0. It returns the new position, true where torch needs
        # that: where a call fitted. The cache keeps nothing, and counts.
        self.called = functools.lru_cache(maxsize=0)(functools.partial(functools.reduce, self._place.seek, (1,)))
        self.hooks: list[HookState] = []
        """What `attempts` and `limited` depend on."""
        self._before = GuardedCalls(checked=0, fitted=0, attempts=0, limited=0)

    def _now(self) -> GuardedCalls:
        return GuardedCalls(
            checked=self.called.cache_info().misses,
            fitted=self._place.tell(),
            attempts=self.attempts,
            limited=self.limited,
            skipped=UNGUARDED.skipped,
            disabled=UNGUARDED.disabled,
            uncounted=len(UNGUARDED.uncounted),
        )

    def facts(self) -> list[Fact]:
        """The row, where all calls were counted and there are any."""
        now = self._now()
        counts = {name: getattr(now, name) - getattr(self._before, name) for name in _COUNTS}
        is_whole = self.is_counting and UNGUARDED.is_whole and not any(hook.state != "installed" for hook in self.hooks)
        return [msgspec.structs.replace(now, **counts)] if is_whole and any(counts.values()) else []

    def forget(self) -> None:
        """Another dump begins."""
        self._before = self._now()


COUNTS = _Counts()


def install(probes: Probes) -> None:
    """Give torch the counter, unless the program has a hook of its own, and until it has."""
    put = names.AFTER_GUARDS.load()

    def replaced(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        if COUNTS.is_counting:
            COUNTS.is_counting = False
            put(None)  # torch returns the hook that it had to the program

    own = put(COUNTS.called)
    if own is not None:
        put(own)
        return
    COUNTS.is_counting = True
    probes.accounts.append(COUNTS)
    COUNTS.hooks.append(probes.wrap(PROBE, names.AFTER_GUARDS, before=replaced, patient=True))
