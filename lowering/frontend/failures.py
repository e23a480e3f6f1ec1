"""Where a compile failed: the stage, and the FX nodes of what was being compiled, from the exception's own frames."""

import sys
import traceback
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

from inspect_compile.facts import Location
from inspect_compile.lowering.core.fx_nodes import user_line
from inspect_compile.lowering.core.scopes import Scope
from inspect_compile.lowering.core.values import is_frame
from inspect_compile.probe import let_pass
from inspect_compile.torch_compat.failures import AT_HAND, INDUCTOR, STAGES
from inspect_compile.torch_compat.frames import ISSUES_GUARD


class Failed(NamedTuple):
    """Where."""

    stage: str = ""
    nodes: tuple[str, ...] = ()


def failed_in(error: BaseException, scope: Scope) -> Failed:
    """The stage and the nodes of the innermost functions of Inductor that say so; nothing of them is kept."""
    stage = ""
    nodes: tuple[str, ...] = ()
    for module, frame in _inside(error):
        stage = stage or next((name for prefix, name in STAGES if _is_below(module, prefix)), "")
        nodes = nodes or _nodes(frame, scope)
        if stage and nodes:
            break
    return Failed(stage, nodes)


def failed_line(error: BaseException | None) -> Location | None:
    """The program's line of the FX nodes that the innermost function of Inductor works on which has some: of a compile
    that failed before it had a graph with a name.
    """
    for _, frame in _inside(error):
        for name in AT_HAND:
            try:
                lines = [user_line(node) for node in _fx_nodes(frame.f_locals.get(name))]
            except Exception as failed:
                let_pass(failed)
                lines = []
            if found := next(filter(None, reversed(lines)), None):
                return found
    return None


def failed_condition(error: BaseException | None) -> str:
    """The condition on sizes that torch could make no guard of; empty if it failed elsewhere."""
    for frame, _ in [] if error is None else traceback.walk_tb(error.__traceback__):
        if is_frame(frame, ISSUES_GUARD):
            return str(getattr(frame.f_locals.get(ISSUES_GUARD.variables[0]), "expr", ""))
    return ""


def _inside(error: BaseException | None) -> Iterator[tuple[str, FrameType]]:
    """The functions of Inductor that an exception has passed, the innermost first, with their modules."""
    passed = [] if error is None else [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(passed):
        module = str(frame.f_globals.get("__name__", ""))
        if _is_below(module, INDUCTOR):
            yield module, frame


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
    if nodes := _fx_nodes(value):
        return tuple(node.name for node in nodes)
    # Asked of the types: torch's handlers of operators answer to any name, and warn of those that they do not know.
    members = value.get_nodes() if hasattr(type(value), "get_nodes") else (value,)
    ir = [getattr(member, "__dict__", {}).get("node") or member for member in members]
    return scope.in_order({origin for one in ir if hasattr(type(one), "get_origins") for origin in one.get_origins()})


def _fx_nodes(value: Any) -> list[Any]:
    """An FX node, or those that match a pattern, in the order in which they were matched."""
    fx = sys.modules.get("torch.fx")
    members = getattr(value, "__dict__", {}).get("nodes")
    values = members if isinstance(members, list) else [value]
    return [] if fx is None else [one for one in values if isinstance(one, fx.Node)]
