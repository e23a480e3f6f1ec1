"""Where a compile failed: the stage, and the FX nodes of what was being compiled, from the exception's own frames."""

import sys
import traceback
from types import FrameType
from typing import Any, NamedTuple

from inspect_compile.lowering.core.scopes import Scope
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.failures import AT_HAND, INDUCTOR, STAGES


class Failed(NamedTuple):
    """Where."""

    stage: str = ""
    nodes: tuple[str, ...] = ()


def failed_in(error: BaseException, scope: Scope) -> Failed:
    """The stage and the nodes of the innermost functions of Inductor that say so; nothing of them is kept."""
    stage = ""
    nodes: tuple[str, ...] = ()
    for frame in reversed([frame for frame, _ in traceback.walk_tb(error.__traceback__)]):
        module = str(frame.f_globals.get("__name__", ""))
        if not _is_below(module, INDUCTOR):
            continue
        stage = stage or next((name for prefix, name in STAGES if _is_below(module, prefix)), "")
        nodes = nodes or _nodes(frame, scope)
        if stage and nodes:
            break
    return Failed(stage, nodes)


def _is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _nodes(frame: FrameType, scope: Scope) -> tuple[str, ...]:
    variables = frame.f_locals
    for name in AT_HAND:
        try:
            found = _of(variables.get(name), scope)
        except Exception as error:
            let_pass(error)
            found = ()
        if found:
            return found
    return ()


def _of(value: Any, scope: Scope) -> tuple[str, ...]:
    fx = sys.modules.get("torch.fx")
    if fx is not None and isinstance(value, fx.Node):
        return (value.name,)
    # Asked of the types: torch's handlers of operators answer to any name, and warn of those that they do not know.
    members = value.get_nodes() if hasattr(type(value), "get_nodes") else (value,)
    ir = [getattr(member, "__dict__", {}).get("node") or member for member in members]
    return scope.in_order({origin for one in ir if hasattr(type(one), "get_origins") for origin in one.get_origins()})
