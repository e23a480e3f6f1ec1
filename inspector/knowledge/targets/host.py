"""Figures of this machine's CPU: measured once by `doctor --measure`, and kept in the user's cache directory."""

import json
import os
import platform
from pathlib import Path
from typing import Any, Final, NamedTuple

_VERSION: Final = 1
_NAME: Final = "roof.json"
_LARGEST: Final = 1 << 16
_FASTEST: Final = 1e18
"""Bytes or operations per second: a file with more is damaged."""


class Host(NamedTuple):
    """One CPU, with torch's default number of threads."""

    cpu: str
    threads: int
    date: str
    """Date of the measurement, `2026-05-01`."""
    torch: str
    bandwidth: float
    """Bytes per second, read and written."""
    peak: dict[str, float]
    """dtype → FLOP/s of a matmul."""


def path() -> Path:
    """Where the measurement is kept: $XDG_CACHE_HOME/inspect-compile, else ~/.cache/inspect-compile."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "inspect-compile" / _NAME


def host() -> Host | None:
    """The measurement of this machine's CPU; None if there is none, or it is of another CPU."""
    try:
        with open(path(), "rb") as file:
            read = json.loads(file.read(_LARGEST))
    except (OSError, RuntimeError, ValueError, RecursionError):
        return None
    found = _sound(read)
    return found if found is not None and found.cpu == cpu_name() else None


def keep(found: Host) -> Path:
    """Write it completely or not at all; raises OSError if that cannot be done."""
    to = path()
    to.parent.mkdir(parents=True, exist_ok=True)
    temporary = to.with_name(f".{_NAME}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps({"version": _VERSION, **found._asdict()}, indent=2), encoding="utf-8")
        temporary.replace(to)
    finally:
        temporary.unlink(missing_ok=True)
    return to


def cpu_name() -> str:
    """The model of this machine's CPU, with the number of cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{_model()}, {cores} cores"


def _sound(read: Any) -> Host | None:
    match read:
        case {
            "version": int(version),
            "cpu": str(cpu),
            "threads": int(threads),
            "date": str(date),
            "torch": str(torch),
            "bandwidth": int() | float() as bandwidth,
            "peak": dict(peak),
        } if version == _VERSION and "float32" in peak:
            figures = (bandwidth, *peak.values())
            if all(isinstance(one, (int, float)) and 0 < one < _FASTEST for one in figures):
                return Host(cpu, threads, date, torch, bandwidth, {str(dtype): rate for dtype, rate in peak.items()})
    return None


def _model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "CPU"
