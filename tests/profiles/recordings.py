"""The recordings in data/, a dump and a trace of the same program each; and the same trace as other tools tell it."""

import csv
import gzip
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from inspect_compile.analysis.lookup.parts import find_target
from inspect_compile.dump import Dump, open_dump
from inspect_compile.tables.lookup_text import only

DATA = Path(__file__).resolve().parent / "data"
NAMES = sorted(path.name for path in DATA.iterdir() if path.is_dir())
GIVEN = "h200_torch_2_11"
"""Three calls of one graph; the dump was made with --target sm_90, by the same torch."""


def dump_of(name: str, folder: Path) -> Dump:
    """The dump of a recording, unpacked into `folder`."""
    with zipfile.ZipFile(DATA / name / "dump.zip") as archive:
        archive.extractall(folder)
    return only(find_target(open_dump(folder), None))


def trace_of(name: str) -> Path:
    """The trace of a recording."""
    return DATA / name / "trace.json.gz"


def events_of(name: str) -> dict[str, Any]:
    """The trace as JSON has it."""
    found: dict[str, Any] = json.loads(gzip.decompress(trace_of(name).read_bytes()))
    return found


def changed(name: str, to: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Path:
    """The trace with each event as `change` gives it back; without those of which it gives nothing."""
    trace = events_of(name)
    trace["traceEvents"] = [kept for event in trace["traceEvents"] if (kept := change(event)) is not None]
    to.write_text(json.dumps(trace))
    return to


def as_replays(name: str, to: Path, parts: int = 1) -> Path:
    """The trace as of a CUDA graph: no operators in a call, and one launch, or several, for all of its kernels."""
    events = events_of(name)["traceEvents"]
    calls = [event for event in events if event["name"].startswith("## Call CompiledFxGraph")]
    starts = {
        event["args"]["correlation"]: call
        for event in events
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and "Launch" in event["name"]
        for call in calls
        if call["ts"] <= event["ts"] <= call["ts"] + call["dur"]
    }
    of_call: dict[int, list[int]] = {}
    for correlation, call in starts.items():
        of_call.setdefault(id(call), []).append(correlation)
    first = {
        own: found[at * parts // len(found) * len(found) // parts]
        for found in of_call.values()
        for at, own in enumerate(found)
    }

    def change(event: dict[str, Any]) -> dict[str, Any] | None:
        category, args = event.get("cat"), event.get("args", {})
        correlation = args.get("correlation")
        if category == "cpu_op":
            inside = any(call["ts"] < event["ts"] < call["ts"] + call["dur"] for call in calls)
            return None if inside else event
        if correlation not in starts:
            return event
        own = first[correlation]
        if category == "kernel":
            return {**event, "args": {**args, "correlation": own, "External id": 0}}
        return {**event, "name": "cudaGraphLaunch"} if correlation == own else None

    return changed(name, to, change)


def as_nsys(name: str, to: Path, *, with_ranges: bool = False) -> Path:
    """The trace as Nsight Systems exports it; with the ranges of torch.autograd.profiler.emit_nvtx where asked for."""
    strings: dict[str, int] = {}

    def text(words: str) -> int:
        return strings.setdefault(words, len(strings))

    with sqlite3.connect(to) as connection:
        connection.executescript(
            """
            CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
            CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
            CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
                start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER,
                globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
                gridX INTEGER, gridY INTEGER, gridZ INTEGER, graphNodeId INTEGER);
            CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
                start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);
            CREATE TABLE NVTX_EVENTS (
                start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);
            INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200');
            """
        )
        for event in events_of(name)["traceEvents"]:
            category, args = event.get("cat"), event.get("args", {})
            if event["ph"] != "X" or not isinstance(event["pid"], int):
                continue
            start, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            pid = 425 << 24
            if category == "kernel":
                row = (
                    start,
                    end,
                    0,
                    7,
                    args["correlation"],
                    pid,
                    text(event["name"]),
                    text("short"),
                    *args["grid"],
                    None,
                )
                connection.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({','.join('?' * 12)})", row)
            elif category in ("cuda_runtime", "cuda_driver"):
                call = (start, end, pid | event["tid"], args["correlation"], text(f"{event['name']}_v7000"))
                connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)", call)
            elif category == "cpu_op" and with_ranges:
                words = f"{event['name']}, op_id = {args['External id']}" if "::" in event["name"] else event["name"]
                span = (start, end, 59, None, text(words), pid | event["tid"])
                connection.execute("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?)", span)
        connection.executemany(
            "INSERT INTO StringIds VALUES (?, ?)", [(number, words) for words, number in strings.items()]
        )
    connection.close()
    return to


def kernels_of(name: str) -> list[dict[str, Any]]:
    """The kernel events, in order."""
    found = [event for event in events_of(name)["traceEvents"] if event.get("cat") == "kernel"]
    return sorted(found, key=lambda event: float(event["ts"]))


def as_nsys_trace_csv(name: str, to: Path) -> Path:
    """`nsys stats --report cuda_gpu_trace --format csv`."""
    header = (
        "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    )
    header += "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name"
    with to.open("w", newline="") as file:
        file.write(f"Processing [x.sqlite] with [cuda_gpu_trace.py]... \n\n{header}\n")
        for event in kernels_of(name):
            args = event["args"]
            row = [
                round(event["ts"] * 1000),
                round(event["dur"] * 1000),
                args["correlation"],
                *args["grid"],
                *args["block"],
            ]
            csv.writer(file).writerow([*row, 32, 0, 0, "", "", "", "", "NVIDIA H200 (0)", 1, "", 7, event["name"]])
    return to


def as_nsys_sum_csv(name: str, to: Path) -> Path:
    """`nsys stats --report cuda_gpu_kern_sum --format csv`."""
    sums: dict[str, list[float]] = {}
    for event in kernels_of(name):
        sums.setdefault(event["name"], []).append(event["dur"] * 1000)
    with to.open("w", newline="") as file:
        file.write("Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n")
        for kernel, times in sums.items():
            csv.writer(file).writerow([1.0, round(sum(times)), len(times), 1.0, 1.0, 1, 1, 0.0, kernel])
    return to


def as_ncu_csv(name: str, to: Path) -> Path:
    """`ncu --csv`, a row a metric."""
    header = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    header += '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
    with to.open("w", newline="") as file:
        file.write(f"==PROF== Connected to process 425\n{header}\n")
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        for number, event in enumerate(kernels_of(name)):
            block, grid = (f"({', '.join(map(str, event['args'][key]))})" for key in ("block", "grid"))
            head = [
                number,
                425,
                "python",
                "host",
                event["name"],
                1,
                7,
                block,
                grid,
                0,
                "9.0",
                "GPU Speed Of Light Throughput",
            ]
            writer.writerow([*head, "Duration", "us", f"{event['dur']:.2f}"])
            writer.writerow([*head, "DRAM Throughput", "%", "12.3"])
    return to
