"""vLLM's own cache of compiled models: whether what lies there was loaded, and if not, why. vLLM says so in its log
alone, and compiles the model again.
"""

import os
import threading
from typing import Any, Final

from inspect_compile.facts import CacheLookup, Remark
from inspect_compile.knowledge.overview.compiler_errors import brief
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import Name

PROBE = "lowering.vllm_loads"

CACHE: Final = "vllm"

_LOADS = Name(
    "vllm.compilation.decorators", "_try_load_aot_compiled_fn", "a compiled model is looked up in vLLM's cache"
)
_STEPS: Final = (
    Name("torch.compiler", "load_compiled_function", "it is read: why that failed"),
    Name("vllm.compilation.decorators", "_verify_source_unchanged", "its sources are compared: which way they differ"),
)
_LAST_STEP = Name(
    "vllm.compilation.caching", "VllmSerializableFunction.finalize_loading", "its graphs are loaded: why that failed"
)


class _Loading(threading.local):
    """Why the loads that go on failed, as far as they did; the innermost last."""

    def __init__(self) -> None:
        self.reasons: list[str] = []


_LOADING = _Loading()


def install(probes: Probes) -> None:
    """Hook the look-up, and what it calls."""

    def begins(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        _LOADING.reasons.append("")

    def ended(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        reason = _LOADING.reasons.pop() if _LOADING.reasons else ""
        path = str(argument(args, kwargs, 1, "aot_compilation_path"))
        if result is not None:
            outcome, reason = "hit", ""
        elif os.path.exists(path):
            outcome = "failed"
        else:
            outcome, reason = "miss", ""
        probes.sink.add(
            CacheLookup(graph=compile_id() or "", cache=CACHE, outcome=outcome, reason=reason or None, key=_key(path))
        )
        if outcome == "failed":
            probes.sink.add(
                Remark(
                    kind="missed",
                    code="cache-not-loaded",
                    message="vLLM compiles the model again: what lies in its cache could not be loaded"
                    + (f": {reason}" if reason else "; its log says why"),
                )
            )

    def broke(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
        if _LOADING.reasons:
            _LOADING.reasons.pop()

    probes.wrap(PROBE, _LOADS, before=begins, after=ended, failed=broke)
    for step in _STEPS:
        probes.wrap(PROBE, step, failed=_failed)


def install_last_step(probes: Probes) -> None:
    """Hook the step that is in another module."""
    probes.wrap(PROBE, _LAST_STEP, failed=_failed)


def _failed(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
    if _LOADING.reasons:
        _LOADING.reasons[-1] = brief(f"{type(error).__name__}: {error}".rstrip(": "))


def _key(path: str) -> str:
    """What vLLM makes of all that the model depends on: the folder of the rank's folder."""
    return os.path.basename(os.path.dirname(os.path.dirname(path)))
