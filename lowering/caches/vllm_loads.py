"""vLLM's own cache of compiled models: whether what lies there was loaded, and if not, why. vLLM says so in its log
alone, and compiles the model again.
"""

import logging
import os
import sys
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
_FAILURE: Final = "due to a load failure"


class _Reason(threading.local):
    """What vLLM says of a load that failed: it catches the exception, and logs it. A filter of `logging`."""

    def __init__(self) -> None:
        self.text = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """Lets every record pass."""
        if isinstance(record.msg, str) and _FAILURE in record.msg and type(record.args) is tuple and record.args:
            reason = record.args[-1]
            self.text = reason if type(reason) is str else ""
        return True


def install(probes: Probes) -> None:
    """Hook the look-up; while it goes on, what vLLM logs passes by here."""
    reason = _Reason()

    def begins(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        reason.text = ""
        if (logger := _logger()) is not None:
            logger.addFilter(reason)

    def ended(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        if (logger := _logger()) is not None:
            logger.removeFilter(reason)
        path, why = str(argument(args, kwargs, 1, "aot_compilation_path")), brief(reason.text)
        outcome = "hit" if result is not None else "failed" if os.path.exists(path) else "miss"
        found = why if outcome == "failed" and why else None
        graph = compile_id() or ""
        probes.sink.add(CacheLookup(graph=graph, cache=CACHE, outcome=outcome, reason=found, key=_key(path)))
        if outcome == "failed":
            because = f": {why}" if why else "; vLLM logs why, as a warning"
            message = f"vLLM compiles the model again: the entry in its cache could not be loaded{because}"
            probes.sink.add(Remark(graph=graph, kind="missed", code="cache-not-loaded", message=message))

    def broke(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
        if (logger := _logger()) is not None:
            logger.removeFilter(reason)

    probes.wrap(PROBE, _LOADS, before=begins, after=ended, failed=broke)


def _logger() -> logging.Logger | None:
    found = getattr(sys.modules.get(_LOADS.module), "logger", None)
    return found if isinstance(found, logging.Logger) else None


def _key(path: str) -> str:
    """What vLLM makes of all that the model depends on: the name of the folder that has one for each rank."""
    return os.path.basename(os.path.dirname(os.path.dirname(path)))
