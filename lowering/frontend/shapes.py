"""Conditions on symbolic sizes that are added while a frame is compiled, and symbols that become numbers."""

from typing import Any, ClassVar

from inspect_compile.facts import Location, ShapeGuard
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.running_calls import RUNNING
from inspect_compile.lowering.core.scopes import compile_id, torch_object
from inspect_compile.lowering.ir.symbols import source_name
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import traced as names
from inspect_compile.torch_compat.compilers import TRACING_CONTEXT

PROBE = "lowering.shapes"


class _Added:
    """The lines of the conditions of the compile that runs, or ran last: torch keeps them as text, cut short."""

    graph = ""
    lines: ClassVar[dict[str, Location]] = {}


def install(probes: Probes) -> None:
    """Hook where torch tells its structured trace of them."""

    def added(shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        expression = argument(args, kwargs, 1, "g")
        found = sorted(getattr(expression, "free_symbols", ()), key=str)
        _record(probes, "guard", str(expression), shapes, found, str(argument(args, kwargs, 0, "prefix", "")))

    def replacing(shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return shapes.replacements.get(argument(args, kwargs, 0, "a"))

    def replaced(before: Any, shapes: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        symbol, value = argument(args, kwargs, 0, "a"), argument(args, kwargs, 1, "tgt")
        if getattr(value, "is_number", False) and before != value and shapes.replacements.get(symbol) == value:
            reason = str(argument(args, kwargs, 2, "msg", ""))
            _record(probes, "specialization", f"{symbol} == {value}", shapes, [symbol], reason)

    probes.wrap(PROBE, names.SHAPE_GUARD, before=added)
    probes.wrap(PROBE, names.REPLACEMENT, before=replacing, after=replaced)


def _record(probes: Probes, what: str, expression: str, shapes: Any, symbols: list[Any], reason: str) -> None:
    if RUNNING.is_loading:  # what was added when it was compiled is kept with it
        return
    graph, where = compile_id() or "", _traced_line()
    if graph != _Added.graph:
        _Added.graph = graph
        _Added.lines.clear()
    if where is not None:
        _Added.lines.setdefault(expression, where)
    sources = [f"{symbol} = {source_name(one)}" for symbol in symbols for one in shapes.var_to_sources.get(symbol, ())]
    probes.sink.add(
        ShapeGuard(
            graph=graph,
            what=what,
            expression=expression,
            sources=tuple(dict.fromkeys(sources)),
            reason=reason,
            where=where,
        )
    )


def line_of(condition: str) -> Location | None:
    """The line that made a condition of the compile that runs, or ran last."""
    return _Added.lines.get(condition)


def _traced_line() -> Location | None:
    """The program's line that torch traces on this thread, if it knows."""
    context = torch_object(TRACING_CONTEXT)
    stack = context.extract_stack() if context is not None else ()
    return CALL_SITES.line(tuple(map(values.frame_location, stack)))
