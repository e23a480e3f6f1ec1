"""Objects of the program's that a frame changes: Dynamo takes the changes out of the graph, and makes them after it."""

from typing import Any

from inspect_compile.facts import Location, SideEffect
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.scopes import compile_id
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import traced as names

PROBE = "lowering.side_effects"


def install(probes: Probes) -> None:
    """Hook the report of each object that is changed, which torch makes in every compile."""

    def changed(effects: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        variable = argument(args, kwargs, 0, "var")
        stacks = effects.mutation_user_stacks.get(variable, ())
        lines: dict[Location, None] = {}
        for stack in stacks:
            where = CALL_SITES.line(tuple(map(values.frame_location, stack)))
            if where is not None:
                lines.setdefault(where)
        probes.sink.add(
            SideEffect(graph=compile_id() or "", source=_source(variable), type=_type(variable), lines=tuple(lines))
        )

    probes.wrap(PROBE, names.SIDE_EFFECT, before=changed)


def _source(variable: Any) -> str:
    """torch's expression for the object; the name of a variable of an enclosing function; empty if it has none."""
    local = getattr(variable, "local_name", None)
    if type(local) is str:
        return local
    try:
        name = getattr(getattr(variable, "source", None), "name", "")
        return str(name() if callable(name) else name)
    except NotImplementedError:  # of what the frame made
        return ""


def _type(variable: Any) -> str:
    try:
        name = str(variable.python_type_name())
    except NotImplementedError:
        return ""
    return "" if name.startswith("<unknown") else name  # a global, which may hold anything
