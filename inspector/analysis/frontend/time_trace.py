"""Compile times as a trace that Perfetto and chrome://tracing can read."""

from typing import Any

import msgspec

from inspect_compile.analysis.frontend.times import parts
from inspect_compile.dump import Dump

_MICRO = 1e6


def time_trace(dump: Dump) -> bytes:
    """A trace in Chrome's trace event format: one complete event for each run of a timer, with its compile, stage and
    own time.
    """
    process = dump.run.pid
    events: list[dict[str, Any]] = [_named("process_name", process, 0, " ".join(dump.run.argv) or "torch.compile")]
    found = parts(dump)
    for thread in sorted({part.thread for part in found}):
        events.append(_named("thread_name", process, thread, "main" if not thread else f"thread {thread}"))
    for part in found:
        told = {"compile": part.graph, "own ms": round(part.own * 1e3, 3), "our probes ms": round(part.probes * 1e3, 3)}
        events.append(
            {
                "ph": "X",
                "name": part.name,
                "cat": part.stage,
                "ts": round(part.start * _MICRO, 3),
                "dur": round(part.seconds * _MICRO, 3),
                "pid": process,
                "tid": part.thread,
                "args": told,
            }
        )
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ms"})


def _named(what: str, process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}
