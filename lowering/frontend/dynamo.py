"""What Dynamo did with the user's frames: compiled them, broke their graphs, compiled them again, and under which
guards.
"""

import sys
import threading
import traceback
import weakref
from typing import Any, Final

from inspect_compile.at_start import AtStart
from inspect_compile.facts import Frame, GraphBreak, Guard, Location, Recompile, Remark, Skip
from inspect_compile.knowledge.frontend.break_text import split_reason
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.knowledge.frontend.skip_reasons import computes_nothing
from inspect_compile.knowledge.overview.compiler_errors import brief
from inspect_compile.knowledge.overview.findings import RECOMPILE_LIMIT
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.artifacts import record_error, record_text
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.core.fx_nodes import NodeReader
from inspect_compile.lowering.core.program_values import described
from inspect_compile.lowering.core.scopes import compile_id, torch_object
from inspect_compile.lowering.frontend.artifacts import record_resumed
from inspect_compile.lowering.frontend.failed_guards import Objects, failed_guards
from inspect_compile.lowering.frontend.failures import failed_condition, failed_line
from inspect_compile.lowering.frontend.guarded_calls import COUNTS
from inspect_compile.lowering.frontend.module_paths import path_of_module
from inspect_compile.lowering.frontend.shapes import line_of
from inspect_compile.lowering.frontend.unguarded_calls import UNGUARDED, FunctionCode
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import dynamo as names
from inspect_compile.torch_compat import frames

PROBE = "lowering.dynamo"

_MOST_SKIPS: Final = 200
_OURS: Final = __name__.partition(".")[0]


class _Attempt:
    """An attempt to compile a frame that has not ended yet."""

    def __init__(self, code: FunctionCode, caller: Location | None, module: str) -> None:
        self.code = code
        self.module = module
        self.started = AtStart.perf_counter()
        self.graphs = 0
        self.nodes = 0
        self.has_guards = False
        self.guard_seconds: float | None = None
        self.dynamic = _dynamic()
        self.caller = caller


class _Open(threading.local):
    """The open attempts on this thread: frames are compiled inside of frames."""

    def __init__(self) -> None:
        self.seen: FunctionCode | None = None
        """The frame that Dynamo looked at last."""
        self.objects: dict[str, weakref.ref[Any]] = {}
        """Its arguments."""
        self.attempts: list[_Attempt] = []


_RUNNING = _Open()


def install_frames(probes: Probes) -> None:
    """Hook the frame converter, and its report of recompiles.

    Only functions that return immediately are hooked: torch logs the stack of a compile without the frames that it
    counted between the program and the logging call. A frame of ours in between would displace one of torch's.
    """
    sink, objects = probes.sink, Objects()

    def looked(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        frame = argument(args, kwargs, 0, "frame")
        seen = FunctionCode.of(frame.f_code)
        _RUNNING.seen = seen
        _RUNNING.objects = objects.of(frame.f_locals)
        UNGUARDED.looks(seen)
        COUNTS.attempts += bool(argument(args, kwargs, 1, "cache_entries"))

    def reported(context: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        metrics = argument(args, kwargs, 0, "values")
        if "co_name" in metrics:
            ended(metrics)
        elif "recompile_reason" in metrics:
            caller = CALL_SITES.caller()
            CALL_SITES.compiling(caller)
            if _RUNNING.seen is None:
                return
            if getattr(context, "_level", 1) <= 1:
                _RUNNING.attempts.clear()  # left over from an attempt that was interrupted
            found = _RUNNING.objects.get("self")
            module = path_of_module(None if found is None else found())
            _RUNNING.attempts.append(_Attempt(_RUNNING.seen, caller, module))
            objects.compiling(compile_id() or "", _RUNNING.objects)

    def ended(metrics: dict[str, Any]) -> None:
        if not _RUNNING.attempts:
            return
        attempt, kind = _RUNNING.attempts.pop(), metrics["fail_type"]
        if kind is None and not metrics["has_guarded_code"]:
            kind = getattr(sys.exc_info()[0], "__name__", None)  # KeyboardInterrupt, SystemExit
        restarts = tuple(sorted(map(str, metrics.get("restart_reasons") or ())))
        if kind is not None:
            status = "skipped" if kind in ("Unsupported", "SkipFrame") else "failed"
            error = sys.exc_info()[1]
            record_error(probes, "dynamo_error", error)
            failed_at = _failed_at(metrics) or failed_line(error) or line_of(failed_condition(error))
            tell(attempt, status, brief(f"{kind}: {metrics['fail_reason'] or ''}"), failed_at, restarts=restarts)
        elif attempt.graphs:
            tell(attempt, "compiled", None, restarts=restarts)
        else:
            tell(attempt, "no graph" if attempt.has_guards else "skipped", None, restarts=restarts)

    def limited(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        exceeded, limit = result
        if not exceeded or not _RUNNING.attempts:
            return
        attempt = _RUNNING.attempts.pop()
        config = torch_object(names.CONFIG)
        place = _place(values.location(attempt.code.file, attempt.code.line, attempt.code.function))
        setting, most = f"torch._dynamo.config.{limit}", getattr(config, limit, None)
        cause = f"recompile limit: {setting}" + (f" is {most}" if type(most) is int else "")
        around: dict[str, Any] = next(values.frames_of(frames.COMPILES_FRAME), {})
        raises = around.get("one_graph") is True or getattr(config, "fail_on_recompile_limit_hit", False) is True
        then = "raise an error" if raises else "run eagerly"
        COUNTS.limited += not raises
        tell(attempt, "skipped", f"{cause}; calls that fit no earlier compile {then} from now on", limit=limit)
        sink.add(
            Remark(
                graph=compile_id() or "",
                kind="missed",
                code=RECOMPILE_LIMIT,
                message=f"{attempt.code.function} was {cause}; every later call that fits no earlier compile "
                f"{'raises an error' if raises else 'runs eagerly'}",
                numbers={} if type(most) is not int else {"limit": most},
                knob=setting,
                where=values.line_text(place),
                place=place,
            )
        )

    def tell(
        attempt: _Attempt,
        status: str,
        reason: str | None,
        failed_at: Location | None = None,
        limit: str = "",
        restarts: tuple[str, ...] = (),
    ) -> None:
        sink.add(
            Frame(
                graph=compile_id() or "",
                function=attempt.code.function,
                file=attempt.code.file,
                line=attempt.code.line,
                status=status,
                restarts=restarts,
                graphs=attempt.graphs,
                nodes=attempt.nodes,
                seconds=round(AtStart.perf_counter() - attempt.started, 6),
                reason=reason,
                caller=attempt.caller,
                module=attempt.module,
                guard_seconds=attempt.guard_seconds,
                failed_at=failed_at,
                dynamic=attempt.dynamic,
                limit=limit,
            )
        )
        if status in ("skipped", "failed") and not limit:
            UNGUARDED.skips(attempt.code)
        sink.flush()

    def again(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        frame = next((value for value in (*args, *kwargs.values()) if hasattr(value, "f_code")), None)
        if not result or frame is None:
            return
        code = frame.f_code
        reasons = tuple(str(reason) for reason in ([result] if isinstance(result, str) else result))
        fact = Recompile(
            graph=compile_id() or str(kwargs.get("compile_id") or ""),
            function=code.co_qualname,
            file=code.co_filename,
            line=code.co_firstlineno,
            reasons=reasons,
            failed=failed_guards(reasons, frame.f_locals, frame.f_globals, objects),
        )
        sink.add(fact)
        place = _place(values.location(code.co_filename, code.co_firstlineno, code.co_qualname))
        sink.add(
            Remark(
                graph=fact.graph,
                kind="analysis",
                code="recompile",
                message=f"{code.co_qualname} is compiled again: {'; '.join(fact.failed_guards)}",
                where=values.line_text(place),
                place=place,
            )
        )

    looking = probes.wrap(PROBE, names.CACHE_SIZE, before=looked)
    telling = probes.wrap(PROBE, names.COMPILE_METRICS, before=reported)
    COUNTS.hooks += (looking, telling, probes.wrap(PROBE, names.RECOMPILE_LIMIT, after=limited))
    probes.wrap(PROBE, names.RECOMPILE_REASONS, after=again)


def install_skips(probes: Probes) -> None:
    """Hook Dynamo's reports of frames that it does not compile."""
    seen: set[tuple[str, str, int]] = set()

    def skipped(instance: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        frame = argument(args, kwargs, 1, "frame")
        reason, code = str(argument(args, kwargs, 0, "reason")), frame.f_code
        function = FunctionCode.of(code)
        if function != _RUNNING.seen and not computes_nothing(reason):  # else how the attempt ends tells more
            UNGUARDED.skips(function)
        place = (reason, code.co_filename, code.co_firstlineno)
        if place in seen or len(seen) >= _MOST_SKIPS or is_library(code.co_filename) or _is_ours(frame.f_globals):
            return
        seen.add(place)
        probes.sink.add(
            Skip(
                function=code.co_qualname,
                file=code.co_filename,
                line=code.co_firstlineno,
                reason=reason[:2000],
                caller=CALL_SITES.caller(),
            )
        )

    probes.wrap(PROBE, names.SKIP_REASON, before=skipped)


def install_graphs(probes: Probes) -> None:
    """Hook the path of Dynamo's graph to the backend."""
    sink = probes.sink

    def to_backend(output: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        graph_module = argument(args, kwargs, 0, "gm")
        nodes = graph_module.graph.nodes
        sink.add_all(NodeReader().all_facts(graph_module, graph=compile_id() or "", stage="dynamo"))
        if _RUNNING.attempts:
            _RUNNING.attempts[-1].graphs += 1
            _RUNNING.attempts[-1].nodes += sum(node.op.startswith("call") for node in nodes)
        sink.flush()

    probes.wrap(PROBE, names.USER_COMPILER, before=to_backend, fresh_stack=True)


def install_breaks(probes: Probes) -> None:
    """Hook the log of graph breaks."""

    def broke(translator: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        error = argument(args, kwargs, 2, "exc")
        if error.logged:
            return
        text = argument(args, kwargs, 1, "reason")
        stack = tuple(values.frame_location(summary) for summary in getattr(error, "real_stack", None) or ())
        reason, explanation, found = split_reason(str(text))
        where = CALL_SITES.line(stack)
        if probes.keeps_texts:
            above = f"{text}\n\n{''.join(traceback.format_list(getattr(error, 'real_stack', None) or ()))}\n"
            record_error(probes, "dynamo_graph_break_reason", error, above)
        probes.sink.add(
            GraphBreak(
                graph=compile_id() or "", reason=reason, explanation=explanation, hints=found, where=where, stack=stack
            )
        )
        probes.sink.add(
            Remark(
                graph=compile_id() or "",
                kind="missed",
                code="graph-break",
                message=": ".join(filter(None, (reason.rsplit("\n", 1)[-1].strip(), explanation))),
                where=values.line_text(where),
                place=where,
            )
        )

    probes.wrap(PROBE, names.GRAPH_BREAK, before=broke)


def install_guards(probes: Probes) -> None:
    """Hook the guards of each compile."""

    def building(manager: Any, args: Any, kwargs: Any) -> None:
        if _RUNNING.attempts:
            _RUNNING.attempts[-1].has_guards = True

    def timed(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if _RUNNING.attempts:
            _RUNNING.attempts[-1].guard_seconds = round(float(result) / 1e6, 9)

    def guarded(state: Any, manager: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        output = argument(args, kwargs, 1, "output_graph")
        graph = compile_id() or ""
        lines: dict[int, tuple[Any, Location | None]] = {}
        guards = [_guard(graph, guard, lines) for guard in getattr(output, "guards", None) or ()]
        guards.sort(key=_order)
        probes.sink.add_all(guards)
        if probes.keeps_texts:
            record_text(probes, "dynamo_cpp_guards_str", str(manager.guard_manager))
            record_resumed(probes, argument(args, kwargs, 0, "f_code"))

    probes.wrap(PROBE, names.CHECK_FUNCTION, before=building, after=guarded, fresh_stack=True)
    probes.wrap(PROBE, names.GUARD_LATENCY, after=timed)


def _dynamic() -> str:
    """Whether sizes and numbers are symbolic from the first call on, or never; empty if torch decides."""
    config = torch_object(names.CONFIG)
    if not getattr(config, "assume_static_by_default", True):
        return "True"
    return "" if getattr(config, "automatic_dynamic_shapes", True) else "False"


def _is_ours(everywhere: dict[str, Any]) -> bool:
    """Is it a frame of this tool's, wherever that is installed?"""
    return str(everywhere.get("__name__", "")).partition(".")[0] == _OURS


def _failed_at(metrics: dict[str, Any]) -> Location | None:
    """The line that torch says an attempt failed at."""
    file, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
    return values.location(file, line, "") if type(file) is str and type(line) is int else None


def _order(guard: Guard) -> str:
    """Sort key: inputs of the frame first, each before its parts, then globals, then torch's state.

    One text: thousands of tuples alive at once would trigger the garbage collector.
    """
    source, code = guard.source, "\0".join(guard.code)
    return f"{not source:d}{source.startswith('G['):d}{len(source):09}{source}\0{guard.kind}\0{code}"


def _guard(graph: str, guard: Any, lines: dict[int, tuple[Any, Location | None]]) -> Guard:
    """The fact for a guard; `lines` caches the locations of stacks by identity, because guards share a few."""
    stack = guard.user_stack or ()
    known = lines.get(id(stack))
    if known is None:
        known = lines[id(stack)] = stack, _innermost(stack)
    name = guard.name
    return Guard(
        graph=graph,
        kind=guard.create_fn_name(),
        source=str(name() if callable(name) else name),
        code=tuple(map(str, guard.code_list or ())),
        where=known[1],
        value=_guarded(guard.obj_weakref),
    )


def _innermost(stack: Any) -> Location | None:
    """The program's innermost frame in one of torch's stacks; many guards have long ones."""
    own = (summary for summary in reversed(stack) if not values.is_torch_file(summary.filename))
    summary = next(own, stack[-1] if stack else None)
    return None if summary is None else values.frame_location(summary)


def _guarded(reference: Any) -> str:
    """The object that a guard checked, if torch holds a weak reference to it."""
    value = reference() if type(reference) is weakref.ReferenceType else None
    return "" if value is None else described(value)


def _place(own: Location) -> Location:
    """The line of a function, or of the program's call of it if the function is a library's (a compiled nn.Module)."""
    return (CALL_SITES.caller() or own) if is_library(own.file) else own
