"""Nsight Systems: its export to SQLite, and the CSV that `nsys stats` prints.

Built against the published schema (Nsight Systems User Guide, "SQLite Schema Reference" and "Report Scripts") and what
others publish of their exports, not against a recording of our own.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

from inspect_compile.profiles.events import GpuRun, HostCall, Profile, Span
from inspect_compile.profiles.printed import csv_rows, microseconds, number

TOOL: Final = "Nsight Systems"

_GPU: Final = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernel",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "memcpy",
    "CUPTI_ACTIVITY_KIND_MEMSET": "memset",
}
_RUNTIME: Final = "CUPTI_ACTIVITY_KIND_RUNTIME"
_WHOLE_GRAPHS: Final = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
"""Events for whole CUDA graphs instead of their kernels, unless recorded with --cuda-graph-trace=node."""
_STARTS = re.compile(r"Launch|Memcpy|Memset", re.ASCII)
_RANGES: Final = (59, 60)
"""NvtxPushPopRange and NvtxStartEndRange."""
_SEQUENCE = re.compile(r", seq = (\d+)")


def read_sqlite(path: Path) -> Profile:
    """The profile in `nsys export --type sqlite`'s database. Raises ValueError if it lacks what every one has."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            return _Export(connection).profile()
    except sqlite3.Error as error:
        raise ValueError(str(error)) from None


class _Export:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._names: dict[int, str] = {}
        if "StringIds" in self._tables:
            strings = connection.execute("SELECT id, value FROM StringIds")
            self._names = {number: value for number, value in strings if isinstance(value, str)}

    def profile(self) -> Profile:
        if not self._tables & {*_GPU, _RUNTIME, _WHOLE_GRAPHS}:
            raise ValueError(
                "it has no CUPTI_ACTIVITY_KIND_KERNEL: no CUDA was recorded, or it is not an Nsight Systems export"
            )
        found = Profile(TOOL, [], [], [], device=self._device())
        takes = {table: partial(self._run, found, kind) for table, kind in _GPU.items()}
        takes |= {_RUNTIME: partial(self._call, found), "NVTX_EVENTS": partial(self._range, found)}
        for table, take in takes.items():
            for row in self._rows(table, "start"):
                _take_row(found, row, take)
        found.whole_graphs = sum(1 for _ in self._rows(_WHOLE_GRAPHS, "start"))
        if found.whole_graphs and not any(run.kind == "kernel" for run in found.runs):
            raise ValueError(
                f"it holds {found.whole_graphs:,} replays of CUDA graphs, and no kernel of them: "
                "record with nsys profile --cuda-graph-trace=node"
            )
        return found

    def _call(self, found: Profile, row: dict[str, Any]) -> None:
        name = self._names.get(row.get("nameId"), "").partition("_v")[0]  # type: ignore[arg-type]
        thread = row.get("globalTid") or 0
        correlation = _unique(row.get("correlationId"), thread)
        start = row["start"] / 1000
        end = max(start, (row.get("end") or 0) / 1000)
        if _STARTS.search(name) and correlation is not None:
            found.calls.append(HostCall(name, start, thread, correlation, end - start))
        elif "Synchronize" in name:
            found.waits.append(Span(name, start, end, thread))

    def _range(self, found: Profile, row: dict[str, Any]) -> None:
        text = row.get("text") or self._names.get(row.get("textId"), "")  # type: ignore[arg-type]
        start, end = row["start"], row.get("end")
        if row.get("eventType") not in _RANGES or not text or end is None or end < start:  # older ones write 0 for None
            return
        sequence = _SEQUENCE.search(text)
        name = text.partition(", ")[0] if sequence or ", op_id = " in text else text
        number_of = int(sequence[1]) if sequence else None
        found.spans.append(Span(name, start / 1000, end / 1000, row.get("globalTid") or 0, sequence=number_of))

    def _run(self, found: Profile, kind: str, row: dict[str, Any]) -> None:
        name = kind
        if kind == "kernel":
            name = next((text for key in _NAME_KEYS if (text := self._names.get(row.get(key)))), "?")  # type: ignore[arg-type]
        run = GpuRun(
            found.events,
            kind,
            name,
            row["start"] / 1000,
            (row["end"] - row["start"]) / 1000,
            row.get("deviceId") or 0,
            row.get("streamId") or 0,
            _unique(row.get("correlationId"), row.get("globalPid") or 0),
            in_graph=bool(row.get("graphNodeId")),
            grid=tuple(row[key] for key in ("gridX", "gridY", "gridZ") if row.get(key) is not None),
            block=tuple(row[key] for key in ("blockX", "blockY", "blockZ") if row.get(key) is not None),
        )
        found.runs.append(run)

    def _rows(self, table: str, order: str) -> Iterator[dict[str, Any]]:
        if table in self._tables:
            cursor = self._connection.execute(f"SELECT * FROM {table} ORDER BY {order}")
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield dict(zip(names, row, strict=True))

    def _device(self) -> str:
        names = (row.get("name") for row in self._rows("TARGET_INFO_GPU", "rowid"))
        return next((name for name in names if isinstance(name, str)), "")


_NAME_KEYS: Final = ("demangledName", "shortName", "mangledName")


def _take_row(found: Profile, row: dict[str, Any], take: Callable[[dict[str, Any]], None]) -> None:
    """A row that lacks columns of the schema, or has other types in them, counts as damaged."""
    try:
        take(row)
    except (KeyError, TypeError, ValueError):
        found.damaged += 1
    found.events += 1


def _unique(correlation: int | None, owner: int) -> int | None:
    """A number that differs between processes: the upper bits of a global id name the process."""
    return None if correlation is None else correlation | owner >> 24 << 40


def read_csv(path: Path) -> Profile:
    """The profile printed by `nsys stats --format csv`: cuda_gpu_trace, or sums for each kernel."""
    found = Profile(TOOL, [], [], [])
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header: list[str] = []
        for cells in csv_rows(file):
            if _is_header(cells):
                header = [cell.strip() for cell in cells]
            elif header and len(cells) == len(header):
                found.events += 1
                _take(found, dict(zip(header, (cell.strip() for cell in cells), strict=True)))
    if not found.runs:
        raise ValueError("it has no rows of cuda_gpu_trace, cuda_gpu_kern_sum or cuda_kern_exec_sum")
    return found


def _is_header(cells: list[str]) -> bool:
    names = {cell.strip().partition(" (")[0] for cell in cells}
    return bool(names & {"Name", "Kernel Name"}) and bool(names & {"Duration", "Total Time", "KAvg"})


def _take(found: Profile, row: dict[str, str]) -> None:
    name = row.get("Kernel Name") or row.get("Name", "")
    values = {key.partition(" (")[0]: value for key, value in row.items()}
    units = {key.partition(" (")[0]: key.partition(" (")[2].rstrip(")") for key in row}
    times = {key: microseconds(value, units[key]) for key, value in values.items() if units[key] and units[key] != "%"}
    try:
        if "Duration" in times:
            kind = (
                "memcpy" if name.startswith("[CUDA memcpy") else "memset" if name.startswith("[CUDA mem") else "kernel"
            )
            stream, correlation = int(number(values.get("Strm", "0"))), values.get("CorrId", "")
            grid = tuple(int(number(values[key])) for key in ("GrdX", "GrdY", "GrdZ") if values.get(key))
            found.device = found.device or values.get("Device", "").rpartition(" (")[0]
            found.runs.append(
                GpuRun(
                    found.events - 1,
                    kind,
                    name,
                    times["Start"],
                    times["Duration"],
                    stream=stream,
                    correlation=int(correlation) if correlation else None,
                    grid=grid,
                )
            )
            return
        found.is_ordered = False
        count = int(number(values.get("Instances") or values.get("Count") or "0"))
        each = times["KAvg"] if "KAvg" in times else times["Total Time"] / max(1, count)
        if count and not name.startswith("[CUDA mem"):
            found.runs.append(GpuRun(found.events - 1, "kernel", name, 0.0, each * count, count=count))
    except (ValueError, KeyError):
        found.damaged += 1
