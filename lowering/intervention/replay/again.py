"""The replay process: compiles a recorded graph again, as described by the process that started it.

torch is imported only after the environment variables are set that the graph was recorded with.
"""

import ast
import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from inspect_compile.facts import Remark
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.lowering.intervention.replay.exported import is_exported, of_exported
from inspect_compile.lowering.intervention.replay.known import Known
from inspect_compile.lowering.intervention.replay.runnable import RefusedError, runnable
from inspect_compile.lowering.intervention.replay.strangers import of_known_shape
from inspect_compile.lowering.intervention.replay.user_kernels import without_user_kernels

BACKENDS: Final = "torch.backends."
"""What the names of settings begin with that are none of Inductor's."""


def again(request: Mapping[str, Any], tell: Callable[[Remark], None], become: Callable[[str], None]) -> None:
    """Compile the graph described by `request`.

    `tell` receives remarks; `become` is called with the GPU to stand in for, before torch's compiler is loaded. Raises
    RefusedError if it cannot be done, else what torch raises.
    """
    recorded = runnable(request["runnable"], request["readable"])
    known = Known(**request["known"])
    if exported := is_exported(recorded):
        recorded, parameters = of_exported(recorded, known.attributes)
        known = replace(known, static=(*known.static, *parameters))
    if request["is_of_strangers"]:
        recorded = of_known_shape(without_user_kernels(recorded))
    os.environ.update(recorded.environment)
    import torch

    on_gpu = "cuda" in request["device"]
    if request["inputs"] and on_gpu and not torch.cuda.is_available():
        raise RefusedError(f"it was recorded on {request['device']}, which is not available here, and cannot be called")
    target = request["target"] or (_stand_in(request) if on_gpu and not torch.cuda.is_available() else "")
    own: dict[str, Any] = {}
    device = None
    if target:
        become(target)
        own = _stand_for(target)
        device = None if on_gpu else torch.device("cuda", 0)
        if request["is_of_strangers"]:
            own["cpp_wrapper"] = False  # a wrapper in C++ compiles its kernels when it is called
    from inspect_compile.lowering.intervention.replay.compiler import compile_again

    wanted = {name: ast.literal_eval(value) for name, value in request["config"].items()}
    for name in [name for name in wanted if name.startswith(BACKENDS)]:
        _set_backend(torch, name, wanted.pop(name))

    def remark(code: str, message: str) -> None:
        tell(Remark(graph=known.graph, kind="analysis", code=code, message=message))

    if request["torch"] and request["torch"] != torch.__version__:
        remark("replay-torch", f"recorded with torch {request['torch']}, compiled again by torch {torch.__version__}")
    if exported:
        remark(
            "replay-exported",
            "its parameters are inputs here, and constants in the package: what is made of them alone can differ",
        )
    call = None
    if request["inputs"]:
        from inspect_compile.lowering.intervention.replay.call import call_with

        own |= {"triton.cudagraphs": False}  # what is captured is not checked
        call = call_with(request["inputs"])
    compile_again(
        recorded,
        known,
        wanted,
        remark,
        is_of_strangers=request["is_of_strangers"],
        device=device,
        own=own,
        call=call,
    )


def _set_backend(torch: Any, name: str, value: Any) -> None:
    """Set `torch.backends.cuda.matmul.allow_tf32` or one of its kind."""
    *path, last = name.split(".")[1:]
    owner = functools.reduce(getattr, path, torch)
    if not hasattr(owner, last):
        raise RefusedError(f"{name}: this torch has no such setting")
    setattr(owner, last, value)


def _stand_in(request: Mapping[str, Any]) -> str:
    """The GPU that the graph was recorded on, if it is not present."""
    there: str = request["recorded_target"]
    if there in TARGETS:
        return there
    unknown = f", and {there} is not a known GPU" if there else ""
    raise RefusedError(
        f"it was recorded on {request['device']}, which is not here{unknown}; --target GPU compiles it for one of"
        f" {', '.join(TARGETS)}"
    )


def _stand_for(target: str) -> dict[str, Any]:
    """Stand in for that GPU until this process ends; returns the settings that a compile for it needs."""
    from inspect_compile.lowering.intervention.cross_compile.compiler import stand_in

    stand_in(target)
    from inspect_compile.lowering.intervention.cross_compile.retarget import CONFIG

    return dict(CONFIG)
