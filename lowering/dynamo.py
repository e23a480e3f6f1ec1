"""What Dynamo did with the user's frames: compiled, broken, compiled again, under which guards."""

import re
import threading
import time
from typing import Any

from inspect_compile.facts import Frame, GraphBreak, Guard, Location, Recompile, Remark
from inspect_compile.lowering import values
from inspect_compile.lowering.fx_nodes import NodeReader
from inspect_compile.lowering.scopes import compile_id
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.dynamo"

_SECTION = re.compile(r"^\s*(Explanation|Hint|Developer debug context):\s*", re.MULTILINE)


class _Attempt:
    """One open call of convert_frame's _compile."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.graphs = 0
        self.nodes = 0
        self.caller = values.caller()


class _Open(threading.local):
    """The attempts that are open on this thread: frames are compiled inside of frames."""

    def __init__(self) -> None:
        self.attempts: list[_Attempt] = []


_RUNNING = _Open()


def install_frames(probes: Probes) -> None:
    """Hook the frame converter, and what it says of a frame that is compiled again."""
    sink = probes.sink

    def begin(instance: Any, args: Any, kwargs: Any) -> _Attempt:
        attempt = _Attempt()
        _RUNNING.attempts.append(attempt)
        return attempt

    def end(attempt: _Attempt, args: tuple[Any, ...], kwargs: Any, status: str, reason: str | None) -> None:
        if attempt in _RUNNING.attempts:
            _RUNNING.attempts.remove(attempt)
        code = args[0] if args else kwargs["code"]
        frame_id = kwargs.get("compile_id")
        sink.add(
            Frame(
                graph=str(frame_id) if frame_id is not None else "",
                function=code.co_qualname,
                file=code.co_filename,
                line=code.co_firstlineno,
                status=status,
                graphs=attempt.graphs,
                nodes=attempt.nodes,
                seconds=round(time.perf_counter() - attempt.started, 6),
                reason=reason,
                caller=attempt.caller,
            )
        )
        sink.flush()

    def compiled(attempt: _Attempt, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        guarded = getattr(result, "guarded_code", None)
        end(
            attempt,
            args,
            kwargs,
            ("compiled" if attempt.graphs else "no graph") if guarded is not None else "skipped",
            None,
        )

    def failed(attempt: _Attempt, instance: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
        kind = type(error).__name__
        status = "skipped" if kind in ("Unsupported", "SkipFrame") else "failed"
        end(attempt, args, kwargs, status, f"{kind}: {str(error)[:2000]}")

    def again(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        frame = next((value for value in (*args, *kwargs.values()) if hasattr(value, "f_code")), None)
        if not result or frame is None:
            return
        code = frame.f_code
        reasons = tuple(str(reason) for reason in ([result] if isinstance(result, str) else result))
        sink.add(
            Recompile(
                graph=compile_id() or str(kwargs.get("compile_id") or ""),
                function=code.co_qualname,
                file=code.co_filename,
                line=code.co_firstlineno,
                reasons=reasons,
            )
        )
        sink.add(
            Remark(
                graph=compile_id() or str(kwargs.get("compile_id") or ""),
                kind="analysis",
                code="recompile",
                message=f"{code.co_qualname} is compiled again: {'; '.join(reasons)}",
                where=_user_place(code),
            )
        )

    probes.wrap(PROBE, names.COMPILE_FRAME, before=begin, after=compiled, failed=failed)
    probes.wrap(PROBE, names.RECOMPILE_REASONS, after=again)


def install_graphs(probes: Probes) -> None:
    """Hook the way of Dynamo's graph to the backend."""
    sink = probes.sink

    def to_backend(output: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        graph_module = args[0] if args else kwargs["gm"]
        nodes = NodeReader().facts(graph_module, graph=compile_id() or "", stage="dynamo")
        for node in nodes:
            sink.add(node)
        if _RUNNING.attempts:
            _RUNNING.attempts[-1].graphs += 1
            _RUNNING.attempts[-1].nodes += sum(node.op.startswith("call") for node in nodes)
        sink.flush()

    probes.wrap(PROBE, names.USER_COMPILER, before=to_backend)


def install_breaks(probes: Probes) -> None:
    """Hook the log of graph breaks."""

    def broke(translator: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        error = args[2] if len(args) > 2 else kwargs["exc"]
        if error.logged:
            return
        text = args[1] if len(args) > 1 else kwargs["reason"]
        stack = tuple(values.frame_location(summary) for summary in getattr(error, "real_stack", None) or ())
        reason, explanation, found = split_reason(str(text))
        where = values.user_line(stack)
        probes.sink.add(
            GraphBreak(
                graph=compile_id() or "",
                reason=reason,
                explanation=explanation,
                hints=found,
                where=where,
                stack=stack,
            )
        )
        probes.sink.add(
            Remark(
                graph=compile_id() or "",
                kind="missed",
                code="graph-break",
                message=": ".join(filter(None, (reason.rsplit("\n", 1)[-1].strip(), explanation))),
                where=None if where is None else f"{where.file}:{where.line}",
            )
        )

    probes.wrap(PROBE, names.GRAPH_BREAK, before=broke)


def install_guards(probes: Probes) -> None:
    """Hook the guards of each compile."""

    def guarded(state: Any, manager: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        output = args[1] if len(args) > 1 else kwargs.get("output_graph")
        for guard in sorted(getattr(output, "guards", None) or ()):
            summary = guard.user_stack[-1] if guard.user_stack else None
            probes.sink.add(
                Guard(
                    graph=compile_id() or "",
                    kind=guard.create_fn_name(),
                    source=guard.name() if callable(guard.name) else guard.name,
                    code=tuple(str(code) for code in guard.code_list or ()),
                    where=None if summary is None else Location(summary.filename, summary.lineno or 0, summary.name),
                )
            )

    probes.wrap(PROBE, names.CHECK_FUNCTION, after=guarded)


def _user_place(code: Any) -> str:
    """The line of a function, or of the program's call of it where the function is torch's (a compiled nn.Module)."""
    own = Location(code.co_filename, code.co_firstlineno)
    place = (values.caller() or own) if values.is_torch(own) else own
    return f"{place.file}:{place.line}"


def split_reason(text: str) -> tuple[str, str | None, tuple[str, ...]]:
    """torch's break message → (what happened, explanation, hints)."""
    parts = _SECTION.split(text)
    explanation: str | None = None
    hints: list[str] = []
    for heading, body in zip(parts[1::2], parts[2::2], strict=False):
        words = " ".join(body.split())
        if heading == "Explanation":
            explanation = words
        elif heading == "Hint":
            hints.append(words)
    return parts[0].strip(), explanation, tuple(hints)
