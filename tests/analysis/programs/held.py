"""Runs a program while its compiles are recorded, and watches what each call of a compiled graph holds.

`held.py DUMP FILE SCRIPT ARGUMENTS…`; FILE gets a JSON object: `times`, what torch itself counts of each timer, and
`graphs`, a list with one object for each graph: `code`, the wrapper's source, and `calls`, of each `peak` (bytes above
what was held when it began, without what an operator or a kernel frees before it returns), `seen` (the same with it),
`end`, `gone`, the positions of the arguments whose memory nobody held any more when it ended, and `untold`, those of them
that it does not count: torch's profiler is told what a free gives back only if it saw the allocation.
"""

import json
import runpy
import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch._dynamo.utils import compilation_time_metrics
from torch._inductor.graph import GraphLowering
from torch.multiprocessing.reductions import StorageWeakRef
from torch.profiler import ProfilerActivity, profile, record_function

import inspect_compile

_NONE = ("[memory]", "CALL", "PythonDispatchMode")
"""Events that are no operators."""
Change = tuple[object, int]
"""What was running (an operator, a line of the code; None for the wrapper itself), and the bytes that came or went."""


def on_cpu(call: Callable[[Any], Any], arguments: Any, path: str) -> tuple[Any, list[Change]]:
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled, record_function("CALL"):
        result = call(arguments)
    assert profiled.profiler is not None and profiled.profiler.kineto_results is not None
    events = profiled.profiler.kineto_results.events()
    window = next(event for event in events if event.name() == "CALL")
    begin, end = window.start_ns(), window.start_ns() + window.duration_ns()
    inside = [event for event in events if begin <= event.start_ns() <= end and event is not window]
    operators: list[tuple[int, int]] = []
    for event in sorted((event for event in inside if event.name() not in _NONE), key=lambda event: event.start_ns()):
        last = event.start_ns() + event.duration_ns()
        if not operators or last > operators[-1][1]:
            operators.append((event.start_ns(), last))
    changes: list[Change] = []
    for event in sorted((event for event in inside if event.name() == "[memory]"), key=lambda event: event.start_ns()):
        inner = (at for at, (first, last) in enumerate(operators) if first <= event.start_ns() <= last)
        changes.append((next(inner, None), event.nbytes()))
    return result, changes


def on_cuda(call: Callable[[Any], Any], arguments: Any, path: str) -> tuple[Any, list[Change]]:
    torch.cuda.synchronize()
    torch.cuda.memory._record_memory_history("all", context="all", stacks="python", max_entries=1 << 20)
    before = _history()
    result = call(arguments)
    torch.cuda.synchronize()
    after = _history()[len(before) :]
    torch.cuda.memory._record_memory_history(None)
    changes: list[Change] = []
    for event in after:
        sign = {"alloc": 1, "free_requested": -1}.get(event["action"], 0)
        lines = [frame["line"] for frame in event.get("frames", ()) if frame["filename"] == path]
        if sign:
            changes.append((lines[0] if lines else None, sign * event["size"]))
    return result, changes


def _history() -> list[Any]:
    return [event for trace in torch.cuda.memory._snapshot()["device_traces"] for event in trace]


def curve(changes: Iterable[Change]) -> dict[str, int]:
    """Bytes that are held: `peak` after each operator, `seen` at any moment, `end`."""
    live = seen = peak = 0
    running: object = None
    for what, change in changes:
        if what != running or what is None:
            peak = max(peak, live)
        running = what
        live += change
        seen = max(seen, live)
    return {"peak": max(peak, live), "seen": seen, "end": live}


found: dict[str, dict[str, Any]] = {}
compiled = GraphLowering.compile_to_module
made: dict[int, StorageWeakRef] = {}
"""What the calls returned that they had allocated; the profiler tells of no other that it is freed."""


def told_apart(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A C++ kernel as an operator: a template may allocate for itself."""

    def called(*arguments: Any) -> Any:
        with record_function(name):
            return kernel(*arguments)

    return called


def is_dense(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def watched(graph: GraphLowering) -> Any:
    module = compiled(graph)
    path, call = str(module.__file__), module.call
    watch = on_cuda if "cuda" in {device.split(":")[0] for device in graph.device_types} else on_cpu

    def observed(arguments: Any) -> Any:
        before = {at: StorageWeakRef(one.untyped_storage()) for at, one in enumerate(arguments) if is_dense(one)}
        result, changes = watch(call, arguments, path)
        gone = [at for at, storage in before.items() if storage.expired()]
        untold = [at for at in gone if watch is on_cpu and before[at].cdata not in made]
        found[path]["calls"].append({**curve(changes), "gone": gone, "untold": untold})
        given = {storage.cdata for storage in before.values()}
        storages = [StorageWeakRef(one.untyped_storage()) for one in result if is_dense(one)]
        made.update({storage.cdata: storage for storage in storages if storage.cdata not in given})
        return result

    with open(path, encoding="utf-8") as file:
        found[path] = {"code": file.read(), "calls": []}
    for name, kernel in list(vars(module).items()):
        if name.startswith("cpp_") and callable(kernel):
            setattr(module, name, told_apart(name, kernel))
    module.call = observed
    return module


if __name__ == "__main__":
    dump, file, *sys.argv = sys.argv[1:]
    GraphLowering.compile_to_module = watched  # type: ignore[method-assign]
    with inspect_compile.capture(dump):
        runpy.run_path(sys.argv[0], run_name="__main__")
    with open(file, "w", encoding="utf-8") as written:
        json.dump({"graphs": list(found.values()), "times": compilation_time_metrics}, written)
