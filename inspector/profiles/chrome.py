"""torch.profiler's Chrome traces, `.json` and `.json.gz`: read, and written again with notes on some of the events."""

import gzip
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec

from inspect_compile.profiles.events import GpuRun, HostCall, Profile, Span
from inspect_compile.profiles.json_events import EventReader

TOOL: Final = "torch.profiler"

_GPU: Final = {"kernel": "kernel", "gpu_memcpy": "memcpy", "gpu_memset": "memset"}
_HOST: Final = frozenset({"cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver"})
_SPANS: Final = frozenset({"cpu_op", "user_annotation"})
_FUNCTION: Final = "python_function"
_OWN = re.compile(r"(?![^(]*(?:\b(?:site|dist)-packages\b|\btorch[/\\]|\bpython\d))[^<>]+\.py\(\d+\): ", re.ASCII)
"""A Python function that is no library's."""
_WAITS = re.compile(r"Synchronize", re.ASCII)
_STARTS = re.compile(r"Launch|Memcpy|Memset|memcpy|memset", re.ASCII)
"""Names of runtime calls that start something: cuLaunchKernel, cudaGraphLaunch, cudaMemcpyAsync."""
_DEVICE = re.compile(
    rb'"deviceProperties"\s*:\s*\[\s*\{(?:(?!"deviceProperties").)*?"name"\s*:\s*("(?:[^"\\]|\\.)*")', re.DOTALL
)

Number = int | float | str


class _Args(msgspec.Struct, gc=False):
    external: Number | None = msgspec.field(name="External id", default=None)
    correlation: Number | None = None
    device: Number | None = None
    stream: Number | None = None
    sequence: Number | None = msgspec.field(name="Sequence number", default=None)
    forward_thread: Number | None = msgspec.field(name="Fwd thread id", default=None)
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    graph: Number | None = msgspec.field(name="graph node id", default=None)


class _Event(msgspec.Struct, gc=False):
    ph: str = ""
    cat: str = ""
    name: str = ""
    pid: Number = 0
    tid: Number = 0
    ts: float | str = 0.0
    dur: float = 0.0
    args: _Args | None = None


def read(path: Path) -> Profile:
    """The profile in the trace at `path`. Raises ValueError if it is not a trace."""
    names: dict[str, str] = {}
    threads: dict[tuple[Number, Number], int] = {}
    profile = Profile(TOOL, [], [], [])
    reader = EventReader(path, msgspec.json.Decoder(list[_Event]).decode)
    for batch in reader.batches():
        for index, event in enumerate(batch, profile.events):
            if event is None:
                profile.damaged += 1
            elif event.ph == "X":
                _take(profile, index, event, names, threads)
        profile.events += len(batch)
    profile.is_cut_off = reader.is_cut_off
    found = _DEVICE.search(reader.around.head) or _DEVICE.search(reader.around.tail)
    if found is not None:
        profile.device = msgspec.json.decode(found[1], type=str)
    return profile


def _take(
    profile: Profile, index: int, event: _Event, names: dict[str, str], threads: dict[tuple[Number, Number], int]
) -> None:
    category, args = event.cat, event.args
    if category in _SPANS:
        name = names.setdefault(event.name, event.name)
        thread = threads.setdefault((event.pid, event.tid), len(threads))
        start = float(event.ts)
        external, sequence, forward = (
            (None, None, None) if args is None else (args.external, args.sequence, args.forward_thread)
        )
        profile.spans.append(
            Span(
                name,
                start,
                start + event.dur,
                thread,
                external if type(external) is int else _whole(external),
                sequence if type(sequence) is int else _whole(sequence),
                index,
                # A forward has 0: it has no forward of its own.
                _whole(forward) or None,
            )
        )
    elif category in _GPU:
        args = args or _Args()
        profile.runs.append(
            GpuRun(
                index,
                _GPU[category],
                names.setdefault(event.name, event.name),
                float(event.ts),
                event.dur,
                _whole(args.device) or 0,
                _whole(args.stream) or 0,
                _whole(args.correlation),
                _whole(args.external),
                bool(args.graph),
                args.grid,
                args.block,
            )
        )
    elif category in _HOST:
        name = names.setdefault(event.name, event.name)
        start = float(event.ts)
        correlation = _whole(args.correlation) if args is not None else None
        if correlation is not None and _STARTS.search(name):
            thread = threads.setdefault((event.pid, event.tid), len(threads))
            profile.calls.append(HostCall(name, start, thread, correlation, event.dur))
        elif _WAITS.search(name):
            thread = threads.setdefault((event.pid, event.tid), len(threads))
            profile.waits.append(Span(name, start, start + event.dur, thread))
    elif category == _FUNCTION and _OWN.match(event.name):
        thread = threads.setdefault((event.pid, event.tid), len(threads))
        start = float(event.ts)
        name = names.setdefault(event.name, event.name)
        profile.functions.append(Span(name, start, start + event.dur, thread, index=index))


def _whole(value: Number | None) -> int | None:
    """An integer; some releases write numbers as strings."""
    if value is None or type(value) is int:
        return value
    try:
        return int(value)
    except (ValueError, OverflowError):
        return None


def annotate(path: Path, to: Path, notes: Mapping[int, Mapping[str, Any]]) -> int:
    """Write the trace at `path` again: the event at each index in `notes` gets these args. Returns the number of events
    that did.

    Everything else keeps its text, except the separators between events; a file that is cut off gets an end.
    """
    reader = EventReader(
        path, cast("Callable[[bytes], list[msgspec.Raw]]", msgspec.json.Decoder(list[msgspec.Raw]).decode)
    )
    fields, encode = msgspec.json.Decoder(dict[str, msgspec.Raw]), msgspec.json.encode
    written, noted, is_begun = 0, 0, False
    with _created(to) as file:
        for batch in reader.batches():
            texts = []
            for index, event in enumerate(batch, written):
                if event is None:
                    continue
                if index in notes:
                    found = fields.decode(event)
                    args = fields.decode(found["args"]) if "args" in found else {}
                    args.update((name, msgspec.Raw(encode(value))) for name, value in notes[index].items())
                    found["args"] = msgspec.Raw(encode(args))
                    texts.append(encode(found))
                    noted += 1
                else:
                    texts.append(bytes(event))
            if texts:
                file.write((b",\n" if is_begun else reader.around.head + b"\n") + b",\n".join(texts))
                is_begun = True
            written += len(batch)
        is_object = not reader.around.head.lstrip().startswith(b"[")
        file.write((b"\n" if is_begun else reader.around.head) + (reader.around.tail or (b"]}" if is_object else b"]")))
    return noted


def _created(to: Path) -> IO[bytes]:
    return gzip.open(to, "wb", compresslevel=5) if to.suffix == ".gz" else to.open("wb")  # type: ignore[return-value]
