"""torch's FX-graph and AOTAutograd caches: a compile that they serve has no lowering to watch.

While recording, the lookups of a compile miss; results are stored as torch would store them, and the kernel caches stay
on. With `--cache keep` nothing is changed, and what the caches served is recorded; with `--cache auto` they serve what
is kept.
What a program loads that it has saved is no compile: torch takes it from these caches, or from nowhere.
"""

import threading
from collections.abc import Callable
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.facts import CacheLookup
from inspect_compile.knowledge.caches.key_lines import parts
from inspect_compile.lowering.caches.reuse import REUSE
from inspect_compile.lowering.core.key_parts import PARTS
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import NOTHING, Probes, argument, let_pass
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.caches"

FX: Final = "fx_graph"
AOT: Final = "aot_autograd"
_NAMES = {"FxGraphCache": FX, "AOTAutogradCache": AOT}

_ALONE: Final = "facts are kept with AOTAutograd's cache, in which this compile was not looked up"
"""Of a graph that torch would have taken from the FX-graph cache, with AOTAutograd's off or bypassed."""

Key = tuple[str, dict[str, str]]


class _Keys(threading.local):
    """Cache → the key that torch has just computed for it on this thread."""

    def __init__(self) -> None:
        self.last: dict[str, Key] = {}
        self.recorded: set[str] = set()
        """The caches whose look-up is recorded, though torch has not answered yet."""


_KEYS = _Keys()


def _record_lookup(
    probes: Probes, cache: str, outcome: str, reason: str | None = None, *, stored: bool | None = None
) -> None:
    key, components = _KEYS.last.pop(cache, ("", {}))
    probes.sink.add(
        CacheLookup(
            graph=compile_id() or "",
            cache=cache,
            outcome=outcome,
            reason=reason,
            stored=stored,
            key=key,
            components=components,
        )
    )


def _is_stored(cache: Any, local: bool, remote_cache: Any, key: str) -> bool | None:
    """Is there something that torch could take? None where only another machine knows. Raises OSError."""
    if local:
        folder = getattr(cache, names.CACHE_FOLDER.attribute.rpartition(".")[2])
        try:
            if any(not name.startswith(".") for name in AtStart.names_in(folder(key))):
                return True
        except FileNotFoundError:
            pass
    return False if remote_cache is None else None


def _bypassed(probes: Probes, cache: str, reason: str) -> None:
    _KEYS.last.pop(cache, None)
    _record_lookup(probes, cache, "bypass", reason[:2000])


def _may_serve(probes: Probes, cache: str, key: str) -> Callable[[Any], bool] | None:
    """What says of each thing that `cache` has for the key whether torch may take it; None if it may take nothing."""
    if not probes.reuses_facts:
        return None
    if cache == AOT:
        return (lambda one: REUSE.is_kept(probes, one[1])) if REUSE.has(probes, key) else None
    load = REUSE.load
    if cache != FX or load is None or load.found is None:
        return None
    return lambda one: REUSE.is_code(one[0].source_code)


def _compiles(cache: str, key: str) -> bool:
    """Whether torch compiles where this look-up misses: it has a graph at hand, from which it has made the key, or with
    which it was AOTAutograd's cache that had the key of this one.
    """
    return _KEYS.last.get(cache, ("", {}))[0] == key or REUSE.load is not None


def _why_not(probes: Probes, cache: str) -> str | None:
    """Why torch may not take what `cache` has; None if nothing that is kept was asked for, or another row says it."""
    load = REUSE.load
    if cache == AOT:
        return None if load is None else load.why
    is_alone = cache == FX and probes.reuses_facts and not REUSE.looked_up(compile_id())
    return _ALONE if is_alone else None


def install_fx(probes: Probes) -> None:
    """Hook the lookups of both caches, and the keys and results of the FX-graph cache."""

    def choose(cache: Any, args: Any, kwargs: Any) -> Any:
        name = _NAMES.get(cache.__name__, cache.__name__)
        key = argument(args, kwargs, 2, "key")
        if not probes.pass_over_caches or not _compiles(name, key):
            return None
        wanted = _may_serve(probes, name, key)
        if wanted is not None:
            return wanted
        try:
            stored = _is_stored(cache, *args, **kwargs)
        except OSError as error:  # no descriptor is free, say: torch's own look-up fails in the same way
            let_pass(error)
            return None
        _record_lookup(probes, name, "passed over", _why_not(probes, name) if stored else None, stored=stored)
        _KEYS.recorded.add(name)
        return NOTHING

    def made(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        key, information = result
        if key is None:
            _bypassed(probes, FX, str(information.get("cache_bypass_reason", "")))
        else:
            _KEYS.last[FX] = key[0], PARTS.record(probes, parts(key[1]))

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if _was_recorded(FX):
            return
        if FX not in _KEYS.last:  # AOTAutograd's cache names the key
            key, lines = argument(args, kwargs, 0, "key"), argument(args, kwargs, 1, "debug_lines", ())
            _KEYS.last[FX] = key, PARTS.record(probes, parts(lines))
        info = result[1] if isinstance(result, tuple) and len(result) == 2 else {}
        outcome = str(info.get("cache_state", "hit" if result and result[0] is not None else "miss"))
        _record_lookup(probes, FX, outcome, _recorded() if outcome == "hit" else None)

    probes.accounts.append(PARTS)
    # As if there were no candidates: torch counts and logs the miss as one of its own.
    probes.sift(PROBE, names.CACHE_CANDIDATES, choose)
    probes.wrap(PROBE, names.FX_KEY, after=made)
    probes.wrap(PROBE, names.FX_LOAD, after=loaded)


def _was_recorded(cache: str) -> bool:
    was = cache in _KEYS.recorded
    _KEYS.recorded.discard(cache)
    return was


def install_aot(probes: Probes) -> None:
    """Hook the keys and results of the AOTAutograd cache, and what is stored in it."""

    def made(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        _KEYS.last[AOT] = result[0], PARTS.record(probes, parts(result[1]))  # 2.13 has them if its log is on

    def refused(state: Any, instance: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if isinstance(error, Exception):  # torch goes on without the cache
            _bypassed(probes, AOT, str(error) or type(error).__name__)

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if _was_recorded(AOT):
            return
        load = REUSE.load
        if result is None:
            _record_lookup(probes, AOT, "miss", None if load is None else load.why)
        else:
            _record_lookup(probes, AOT, "hit", _recorded())

    def begun(instance: Any, args: Any, kwargs: Any) -> bool:
        if probes.reuses_facts:
            REUSE.begin(args, kwargs)
        return probes.reuses_facts

    def ended(state: bool, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        # 2.11 returns the function alone, later versions with the settings that a miss goes on with.
        if state and (result[0] if isinstance(result, tuple) else result) is not None:
            REUSE.served(probes)
        elif state:
            REUSE.missed(probes)

    def failed(state: bool, instance: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if state:
            REUSE.failed()

    def stored(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if probes.reuses_facts:
            REUSE.stored(probes, argument(args, kwargs, 0, "key"), argument(args, kwargs, 1, "content"))

    probes.accounts.append(REUSE)
    probes.wrap(PROBE, names.AOT_KEY, after=made, failed=refused)
    probes.wrap(PROBE, names.AOT_LOOKUP, after=loaded)
    probes.wrap(PROBE, names.AOT_TRY_LOAD, before=begun, after=ended, failed=failed, patient=True)
    probes.wrap(PROBE, names.AOT_STORED, after=stored, patient=True)


def _recorded() -> str | None:
    """When the facts were recorded of what torch takes from its cache; None if nothing is kept of it."""
    load = REUSE.load
    if load is None or load.found is None:
        return None
    return f"recorded {load.found.when}"
