"""Frames, breaks, recompiles and guards: the facts of Dynamo in a TORCH_TRACE log."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from inspect_compile.facts import (
    Fact,
    FailedGuard,
    Frame,
    GraphBreak,
    Guard,
    Location,
    Metrics,
    Recompile,
    Remark,
    Settings,
    ShapeGuard,
)
from inspect_compile.knowledge.frontend.break_text import split_reason
from inspect_compile.knowledge.overview.compiler_errors import brief
from inspect_compile.origins.torch_trace.records import Record, Unread, decoded

_NOT_COMPILED: Final = ("Unsupported", "SkipFrame")
"""Exceptions with which Dynamo leaves a frame as it is."""
_SETTINGS: Final = {
    "dynamo_config": "torch._dynamo.config",
    "functorch_config": "torch._functorch.config",
    "inductor_config": "torch._inductor.config",
    "compiler_config": "torch.compiler.config",
}
"""What torch calls the settings among its metrics → the module that they are of."""
_ELSEWHERE: Final = frozenset({*_SETTINGS, "exception_stack_trace", "stack_trace", "compile_id"})
_LONGEST: Final = 2000
_BETWEEN: Final = "torch/_dynamo/eval_frame.py"
"""What runs between a call and the compiled function."""
_BREAK_AT: Final = re.compile(r"Graph break in user code at ([^\n]{1,4000}):(\d{1,9})\n")
_BREAK_REASON: Final = "Graph Break Reason: "
_BREAK_STACK: Final = "\nUser code traceback:\n"
_FRAME_LINE: Final = re.compile(r'^ {2}File "([^"\n]{1,4000})", line (\d{1,9}), in ([^\n]{1,500})$')
_GUARD: Final = re.compile(r"^[ |]*\+- ([A-Z][A-Z_0-9]{1,60}): ([^\n]{1,20000})$")
_MANAGER: Final = re.compile(r"^([ |]*)\+- [A-Za-z]{1,60}Manager: source=([^\n]{1,4000}?)(?:, accessed_by=|, type=|$)")
_GUARD_LINE: Final = re.compile(r"  # ([^\n#]{0,2000})  # ([^\n:#]{1,1000}):(\d{1,9}) in ([^\n]{1,200})$")
_MOST_GUARDS: Final = 100_000
_MOST_LINES: Final = 200
"""Lines of a stack that are kept, the innermost: each holds the one that called it."""


@dataclass
class _Attempt:
    """The last attempt of a compile that has not ended yet."""

    stack: list[Location]
    graphs: int = 0
    has_guards: bool = False


@dataclass
class Frames:
    """Makes facts of Dynamo's records, in order; a compile is a fact when it is known how it ended."""

    names: Mapping[int, str]
    """torch's numbers of file names."""
    unread: Unread
    open: dict[str, _Attempt] = field(default_factory=dict)
    """By compile."""
    reasons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Compile → why it is a recompile."""
    settings: dict[str, str] = field(default_factory=dict)
    """Module → its settings when they were told last."""

    def facts(self, record: Record, compile_id: str) -> Iterator[Fact]:
        """The facts of a record; `compile_id` is what the dump calls its compile."""
        match record.kind, record.name:
            case "dynamo_start", _:
                stack = value.get("stack") if isinstance(value := record.value, dict) else None
                self.open[compile_id] = _Attempt(self.locations(stack))
            case "dynamo_output_graph", _:
                self._attempt(compile_id).graphs += 1
            case "artifact", "recompile_reasons":
                # torch 2.13 writes a text, earlier ones a list in JSON.
                found = decoded(record, self.unread) if record.payload.startswith(b"[") else None
                texts = found if isinstance(found, list) else [record.text]
                self.reasons[compile_id] = tuple(str(text) for text in texts if text)
            case "artifact", "dynamo_graph_break_reason":
                yield from _break(compile_id, record.text)
            case "dynamo_guards", _:
                self._attempt(compile_id).has_guards = True
                yield from self._listed_guards(compile_id, decoded(record, self.unread))
            case "dynamo_cpp_guards_str", _:
                self._attempt(compile_id).has_guards = True
                yield from _tree_guards(compile_id, record.text)
            case (("guard_added" | "guard_added_fast" | "symbolic_shape_specialization"), _):
                yield from self._shape_guard(compile_id, record.kind, record.value)
            case (("compilation_metrics" | "bwd_compilation_metrics" | "compilation_metrics_runtime"), _):
                yield from self._metrics(compile_id, record)

    def rest(self) -> Iterator[Fact]:
        """Compiles whose end the log does not tell."""
        for compile_id, attempt in self.open.items():
            yield self._frame(compile_id, attempt, "unfinished", {}, "the log does not record how this compile ended")
        self.open.clear()

    def locations(self, stack: Any) -> list[Location]:
        """A stack as torch writes it, outermost first."""
        found = []
        for entry in stack[-_MOST_LINES:] if isinstance(stack, list) else ():
            match entry:
                case {"line": int(line), "name": str(function), "filename": int(number)}:
                    code = entry.get("loc")
                    file = self.names.get(number, f"file {number}")
                    found.append(Location(file, line, function, code if isinstance(code, str) else ""))
        return found

    def _attempt(self, compile_id: str) -> _Attempt:
        return self.open.setdefault(compile_id, _Attempt([]))

    def _metrics(self, compile_id: str, record: Record) -> Iterator[Fact]:
        found = record.value if isinstance(record.value, dict) else {}
        of = {"compilation_metrics": "frame", "bwd_compilation_metrics": "backward"}.get(record.kind, "runtime")
        values = {
            str(key): _plain(value) for key, value in found.items() if value is not None and key not in _ELSEWHERE
        }
        yield Metrics(graph=compile_id, of=of, values=values)
        for key, module in _SETTINGS.items():
            text = found.get(key)
            if isinstance(text, str) and self.settings.get(module) != text:
                self.settings[module] = text
                if settings := _settings(compile_id, module, text):
                    yield settings
        if of == "frame" and found.get("co_name") is not None:
            yield from self._ended(compile_id, found)

    def _ended(self, compile_id: str, metrics: dict[str, Any]) -> Iterator[Fact]:
        last, kind = self.open.pop(compile_id, _Attempt([])), metrics.get("fail_type")
        if kind is not None:
            status = "skipped" if kind in _NOT_COMPILED else "failed"
            reason = brief(f"{kind}: {metrics.get('fail_reason') or ''}")
        else:
            status, reason = ("compiled" if last.graphs else "no graph" if last.has_guards else "skipped"), ""
        frame = self._frame(compile_id, last, status, metrics, reason)
        yield frame
        again_since = metrics.get("recompile_reason")
        counted = (again_since,) if isinstance(again_since, str) and again_since else ()
        if why := self.reasons.pop(compile_id, counted):
            again = Recompile(
                graph=compile_id, function=frame.function, file=frame.file, line=frame.line, reasons=why,
                failed=tuple(_failed(reason) for reason in why),
            )  # fmt: skip
            yield again
            yield Remark(
                graph=compile_id, kind="analysis", code="recompile",
                message=f"{frame.function} is compiled again: {'; '.join(again.failed_guards)}",
                where=f"{frame.file}:{frame.line}", place=Location(frame.file, frame.line, frame.function),
            )  # fmt: skip

    @staticmethod
    def _frame(compile_id: str, attempt: _Attempt, status: str, metrics: dict[str, Any], reason: str) -> Frame:
        own = attempt.stack[-1] if attempt.stack else Location("", 0)
        seconds = metrics.get("duration_us")
        latency = metrics.get("guard_latency_us")
        file, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
        is_last = status != "unfinished"
        restarts = metrics.get("restart_reasons")
        name, path, first = (metrics.get(key) for key in ("co_name", "co_filename", "co_firstlineno"))
        entire = metrics.get("entire_frame_compile_time_s")
        took = (
            seconds / 1e6 if isinstance(seconds, (int, float)) else entire if isinstance(entire, (int, float)) else 0.0
        )
        nodes = metrics.get("graph_op_count")
        caller, within = _above(attempt.stack[:-1])
        return Frame(
            graph=compile_id,
            function=name if isinstance(name, str) else own.function,
            file=path if isinstance(path, str) else own.file,
            line=first if type(first) is int else own.line,
            status=status,
            restarts=tuple(sorted(map(str, restarts))) if isinstance(restarts, list) else (),
            graphs=attempt.graphs,
            nodes=nodes if is_last and type(nodes) is int else 0,
            seconds=took if is_last else 0.0,
            reason=reason or None,
            caller=caller,
            within=within,
            guard_seconds=latency / 1e6 if is_last and isinstance(latency, (int, float)) else None,
            failed_at=Location(file, line) if isinstance(file, str) and type(line) is int else None,
        )

    def _listed_guards(self, compile_id: str, found: Any) -> Iterator[Fact]:
        for entry in found if isinstance(found, list) else ():
            if isinstance(entry, dict) and isinstance(code := entry.get("code"), str):
                stack = self.locations(entry.get("user_stack"))
                yield Guard(
                    graph=compile_id, kind=str(entry.get("type") or ""), source=str(entry.get("source") or ""),
                    code=(code,), where=stack[-1] if stack else None,
                )  # fmt: skip

    def _shape_guard(self, compile_id: str, kind: str, found: Any) -> Iterator[Fact]:
        if not isinstance(found, dict):
            return
        stack = self.locations(found.get("user_stack"))
        sources = found.get("sources")
        is_special = kind == "symbolic_shape_specialization"
        expression = f"{found.get('symbol')} == {found.get('value')}" if is_special else str(found.get("expr") or "")
        names = [str(name) for name in sources] if isinstance(sources, list) else []
        yield ShapeGuard(
            graph=compile_id, what="specialization" if is_special else "guard", expression=expression,
            sources=tuple(f"{found.get('symbol')} = {name}" for name in names),
            reason=str(found.get("reason") or ""), where=stack[-1] if stack else None,
        )  # fmt: skip


def _above(stack: Sequence[Location]) -> tuple[Location | None, Location | None]:
    """The line that called the frame below `stack`, and where that is not known the nearest one above it; each with
    what called it and so on.

    torch leaves out some frames next to the one that it compiles: the caller is there only if what torch put between
    the two is.
    """
    above = len(stack)
    while above and stack[above - 1].file.endswith(_BETWEEN):
        above -= 1
    found: Location | None = None
    for place in stack[:above]:
        found = Location(place.file, place.line, place.function, place.code, caller=found)
    return (found, None) if above < len(stack) else (None, found)


def _break(compile_id: str, text: str) -> Iterator[Fact]:
    """torch's account of a graph break."""
    at = _BREAK_AT.search(text)
    _, _, told = text.partition(_BREAK_REASON)
    words, _, rest = told.partition(_BREAK_STACK)
    reason, explanation, hints = split_reason(words.partition("\n For more details about this graph break")[0])
    stack = tuple(_traceback(rest))
    where = stack[-1] if stack else Location(at[1], int(at[2])) if at else None
    if not told:
        reason = text.strip().partition("\n")[0]
    yield GraphBreak(graph=compile_id, reason=reason, explanation=explanation, hints=hints, where=where, stack=stack)
    yield Remark(
        graph=compile_id, kind="missed", code="graph-break",
        message=": ".join(filter(None, (reason.rsplit("\n", 1)[-1].strip(), explanation))),
        where=None if where is None else f"{where.file}:{where.line}", place=where,
    )  # fmt: skip


def _traceback(text: str) -> Iterator[Location]:
    """The frames of a printed traceback, to its first line of another kind."""
    frame: re.Match[str] | None = None
    for line in [*text.split("\n"), ""]:
        if (next_frame := _FRAME_LINE.match(line)) or not line.startswith("    "):
            if frame is not None:
                yield Location(frame[1], int(frame[2]), frame[3])
            if next_frame is None:
                return
            frame = next_frame
        elif frame is not None and line.strip(" ^~"):
            yield Location(frame[1], int(frame[2]), frame[3], line.strip())
            frame = None


def _tree_guards(compile_id: str, text: str) -> Iterator[Fact]:
    """The guards in torch's tree of guard managers."""
    managers: list[tuple[int, str]] = []
    for line in text.split("\n")[:_MOST_GUARDS]:
        if manager := _MANAGER.match(line):
            depth = len(manager[1])
            while managers and managers[-1][0] >= depth:
                managers.pop()
            managers.append((depth, manager[2]))
        elif guard := _GUARD.match(line):
            depth = len(line) - len(line.lstrip(" |"))
            while managers and managers[-1][0] >= depth:
                managers.pop()
            made = _GUARD_LINE.search(guard[2])
            code = guard[2][: made.start()] if made else guard[2].partition("  # ")[0]
            yield Guard(
                graph=compile_id, kind=guard[1], source=managers[-1][1] if managers else "", code=(code.rstrip(),),
                where=Location(made[2].strip(), int(made[3]), made[4].strip(), made[1].strip()) if made else None,
            )  # fmt: skip


def _failed(reason: str) -> FailedGuard:
    compiled, _, condition = reason.partition("\n")[0].partition("  # ")[0].partition(": ")
    return FailedGuard(compile_id=compiled, condition=condition.rstrip())


def _settings(compile_id: str, module: str, text: str) -> Settings | None:
    try:
        found = msgspec.json.decode(text)
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return None
    if not isinstance(found, dict):
        return None
    values = {str(name): msgspec.json.encode(value).decode()[:_LONGEST] for name, value in found.items()}
    return Settings(graph=compile_id, module=module, values=values)


def _plain(value: Any) -> str | int | float | bool:
    if type(value) in (bool, float) or (type(value) is int and -(2**63) <= value < 2**63):
        return value  # type: ignore[no-any-return]
    return (value if type(value) is str else msgspec.json.encode(value).decode())[:_LONGEST]
