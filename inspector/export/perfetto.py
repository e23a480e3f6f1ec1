"""A trace for Perfetto, in Chrome's trace event format.

The time of compiling as torch's timers measured it, imports and first calls, from the start of the process on, each
rank a process; and of a graph one call: its launches in the order of the code, each as long as it takes, with the
memory that is held. A call stands behind the time of compiling, because nobody recorded when it ran, and says so.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from inspect_compile.analysis.cost.launch_figures import FIGURES
from inspect_compile.analysis.cost.launch_figures import took as launch_seconds
from inspect_compile.analysis.frontend.startup import FIRST_CALLS, process_start, until_first_timer
from inspect_compile.analysis.frontend.times import parts
from inspect_compile.facts import FirstCall, Imported, Timed
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.text import lines_text, one_line, program_words

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

Event = dict[str, Any]

_MICRO: Final = 1e6
_GAP: Final = 0.1
"""Part of the time of compiling that is left free before the first call."""
MOST_NODES: Final = 20
"""FX nodes that one launch names."""


def trace(dumps: "Sequence[Dump]", graphs: "Iterable[CompiledGraph]" = ()) -> dict[str, Any]:
    """The compile times of these dumps, ranks of one run, on one clock; and a call of each of these graphs."""
    starts = [_start(dump) for dump in dumps]
    first = min((start for start in starts if start is not None), default=0.0)
    taken: set[int] = set()
    events: list[Event] = []
    for dump, start in zip(dumps, starts, strict=True):
        events += compile_events(dump, _process(dump.run.pid, taken), 0.0 if start is None else start - first)
    end = max((event["ts"] + event["dur"] for event in events if event["ph"] == "X"), default=0.0) / _MICRO
    for graph in graphs:
        end += _GAP * end
        found = list(call_events(graph, _process(1, taken), end))
        events += found
        end = max((event["ts"] / _MICRO for event in found if event["ph"] == "C"), default=end)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def compile_events(dump: "Dump", process: int, offset: float = 0.0) -> Iterator[Event]:
    """An event for each import that took long, each run of a timer, with compile, stage and own time, and each first
    call of a compiled graph, from the start of the process on; `offset` seconds later.
    """
    rank = "" if dump.run.rank is None else f"rank {dump.run.rank}: "
    yield _named("process_name", process, 0, rank + (" ".join(program_words(dump.run.argv)) or "torch.compile"))
    found, began = parts(dump), process_start(dump)
    later = offset + (until_first_timer(dump) or 0.0)
    for thread in sorted({part.thread for part in found}):
        yield _named("thread_name", process, thread, "main" if not thread else f"thread {thread}")
    imports = dump.rows(Imported) if began is not None and found else []
    if imports:
        number = max(part.thread for part in found) + 1
        yield _named("thread_name", process, number, "imports")
        for row in imports:
            start = row.start - (began or 0.0) + offset
            yield _lasting(row.module, "imports", start, row.seconds, process, number, {})
    for part in found:
        args = {"compile": part.graph, "own ms": round(part.own * 1e3, 3), "our probes ms": round(part.probes * 1e3, 3)}
        yield _lasting(part.name, part.stage, part.start + later, part.seconds, process, part.thread, args)
    for call in dump.rows(FirstCall) if began is not None else ():
        start, name = call.start - (began or 0.0) + offset, f"first call, {call.part}"
        yield _lasting(name, FIRST_CALLS, start, call.seconds, process, call.thread, {"compile": call.graph})


def _start(dump: "Dump") -> float | None:
    """When the process started, else its first timer; None where nothing was compiled."""
    first = min((row.start for row in dump.rows(Timed)), default=None)
    began = process_start(dump)
    return first if first is None or began is None else began


def call_events(graph: "CompiledGraph", process: int, start: float) -> Iterator[Event]:
    """The launches of one call, those of nested graphs left out, and what is held after each line."""
    seconds = launch_seconds(graph)
    if not seconds.of:
        return
    launched = {launch.key: launch for launch in graph.launches}
    figures = [of(graph) for of in FIGURES.values()]
    title = f"{graph.name}: one call, in the order of the code, not of time"
    yield _named("process_name", process, 0, title)
    yield _named("thread_name", process, 0, f"launches, as long as {seconds.what}")
    at = start
    yield _held(process, at, 0)
    for step in graph.memory.steps:
        launch = launched.get((step.graph, step.kernel or "", step.line))
        if step.change:
            yield _held(process, at, step.live)
        if launch is None:
            continue
        lasts = seconds.of.get(launch.key, 0.0)
        args: dict[str, Any] = {one.what: one.of[key] for one in figures if (key := launch.key) in one.of}
        args |= {
            "line of output_code": launch.line,
            "lines": lines_text(launch.lines),
            "FX nodes": ", ".join(launch.nodes[:MOST_NODES]),
        }
        yield _lasting(launch.kernel.name, launch.kernel.kind, at, lasts, process, 0, args)
        at += lasts
    yield _held(process, at, 0)


def _process(wanted: int, taken: set[int]) -> int:
    """A number that no other process of the trace has."""
    while wanted in taken:
        wanted += 1
    taken.add(wanted)
    return wanted


def _lasting(
    name: str, category: str, start: float, seconds: float, process: int, thread: int, args: dict[str, Any]
) -> Event:
    return {
        "ph": "X",
        "name": name,
        "cat": category,
        "ts": round(start * _MICRO, 3),
        "dur": round(seconds * _MICRO, 3),
        "pid": process,
        "tid": thread,
        "args": args,
    }


def _held(process: int, at: float, count: int) -> Event:
    return {
        "ph": "C",
        "name": "bytes held",
        "ts": round(at * _MICRO, 3),
        "pid": process,
        "tid": 0,
        "args": {"bytes": count},
    }


def _named(what: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": one_line(name)}}
