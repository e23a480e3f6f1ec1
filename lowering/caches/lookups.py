"""torch's FX-graph and AOTAutograd caches: a compile that they serve has no lowering to watch.

While recording, their lookups miss; results are stored as torch would store them, and the kernel caches stay on. With
`--cache keep` nothing is changed, and what the caches served is recorded.
"""

import os
import threading
from collections.abc import Iterator
from typing import Any, Final

from inspect_compile.facts import CacheLookup
from inspect_compile.lowering.caches.keys import PARTS, parts
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.caches"

FX: Final = "fx_graph"
AOT: Final = "aot_autograd"
_NAMES = {"FxGraphCache": FX, "AOTAutogradCache": AOT}

Key = tuple[str, dict[str, str]]


class _Keys(threading.local):
    """Cache → the key that torch has just computed for it on this thread."""

    def __init__(self) -> None:
        self.last: dict[str, Key] = {}


_KEYS = _Keys()


def _told(probes: Probes, cache: str, outcome: str, reason: str | None = None, *, stored: bool | None = None) -> None:
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
            if any(not name.startswith(".") for name in os.listdir(folder(key))):
                return True
        except FileNotFoundError:
            pass
    return False if remote_cache is None else None


def _bypassed(probes: Probes, cache: str, reason: str) -> None:
    _KEYS.last.pop(cache, None)
    _told(probes, cache, "bypass", reason[:2000])


def install_fx(probes: Probes) -> None:
    """Hook the lookups of both caches, and the keys and results of the FX-graph cache."""

    def passed_over(cache: Any, args: Any, kwargs: Any) -> Any:
        if not probes.pass_over_caches:
            return NotImplemented
        try:
            stored = _is_stored(cache, *args, **kwargs)
        except OSError as error:  # no descriptor is free, say: torch's own look-up fails in the same way
            let_pass(error)
            return NotImplemented
        _told(probes, _NAMES.get(cache.__name__, cache.__name__), "passed over", stored=stored)
        return iter(())

    def made(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        key, information = result
        if key is None:
            _bypassed(probes, FX, str(information.get("cache_bypass_reason", "")))
        else:
            _KEYS.last[FX] = key[0], PARTS.record(probes, parts(key[1]))

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if probes.pass_over_caches:
            return
        info = result[1] if isinstance(result, tuple) and len(result) == 2 else {}
        _told(probes, FX, str(info.get("cache_state", "hit" if result and result[0] is not None else "miss")))

    probes.accounts.append(PARTS)
    # As if there were no candidates: torch counts and logs the miss as one of its own.
    probes.answer(PROBE, names.CACHE_CANDIDATES, Iterator, passed_over)
    probes.wrap(PROBE, names.FX_KEY, after=made)
    probes.wrap(PROBE, names.FX_LOAD, after=loaded)


def install_aot(probes: Probes) -> None:
    """Hook the keys and results of the AOTAutograd cache."""

    def made(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        _KEYS.last[AOT] = result[0], PARTS.record(probes, parts(result[1]))  # 2.13 has them if its log is on

    def refused(state: Any, instance: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        if isinstance(error, Exception):  # torch goes on without the cache
            _bypassed(probes, AOT, str(error) or type(error).__name__)

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not probes.pass_over_caches:
            _told(probes, AOT, "miss" if result is None else "hit")

    probes.wrap(PROBE, names.AOT_KEY, after=made, failed=refused)
    probes.wrap(PROBE, names.AOT_LOOKUP, after=loaded)
