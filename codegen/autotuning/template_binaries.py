"""The resources of templates that torch may choose, whether or not it does.

Each is in a separate module. torch compiles it in order to benchmark it: on a thread of this process or where it first
runs, which is seen here; or in a worker that compiles for this process, and sends the result. What only a benchmarking
process has compiled is not seen.
"""

from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.codegen.kernels.stages import asked_of
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.probe import Probes, let_pass
from inspect_compile.torch_compat import autotuning as names
from inspect_compile.torch_compat import codegen as codegen_names

PROBE = "codegen.template_binaries"

_TOLD: Final = ("registers", "spills", "shared")
_ASKED: Final[dict[str, dict[str, int | None]]] = {}
"""File of a template's module → its resources; empty until it is compiled. Templates with the same code share it."""


def awaited(choice: Any) -> str:
    """File of a choice's module; empty if it is no Triton template."""
    request = getattr(choice, "bmreq", None)
    file = getattr(request, "module_path", None) if hasattr(request, "module_cache_key") else None
    if not isinstance(file, str):
        return ""
    _ASKED.setdefault(file, {})
    return file


def asked_by(file: str) -> dict[str, Any]:
    """The fields of a Choice."""
    return dict(_ASKED.get(file, {}))


def install(probes: Probes) -> None:
    """Hook the autotuner that holds a Triton kernel; a template's has one configuration."""

    def precompiled(state: Any, autotuner: Any, args: Any, kwargs: Any, result: Any) -> None:
        code = getattr(getattr(getattr(autotuner, "fn", None), "fn", None), "__code__", None)
        file = getattr(code, "co_filename", "")
        if _is_awaited(file):
            _keep(file, autotuner)

    def not_loaded(state: Any, autotuner: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        precompiled(state, autotuner, args, kwargs, None)  # it may need more than the GPU has

    probes.wrap(PROBE, codegen_names.AUTOTUNER_PRECOMPILE, after=precompiled, failed=not_loaded)


def from_workers(files: list[str]) -> None:
    """For those not compiled here, take what a worker has sent."""
    sent = torch_object(names.SENT)
    for file in files:
        if sent is None or not _is_awaited(file):
            continue
        try:
            with AtStart.open(file, encoding="utf-8") as module:
                task = getattr(sent(module.read()), "future", None)
        except OSError as error:
            let_pass(error)
            continue
        if task is not None and task.done() and task.exception() is None:
            _keep(file, task.result()[0])


def _is_awaited(file: str) -> bool:
    return file in _ASKED and not _ASKED[file]


def _keep(file: str, autotuner: Any) -> None:
    if len(autotuner.compile_results) == 1:
        asked = asked_of(autotuner, autotuner.compile_results[0])
        _ASKED[file] = {name: asked[name] for name in _TOLD}
