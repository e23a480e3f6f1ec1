"""On a machine with a CUDA device: times of launches, held against torch.profiler's in the same run."""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.analysis.kernels.launch_times import measured, measuring
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.analysis.runtime.launch_plan import plans
from inspect_compile.analysis.runtime.measured import measured_graph
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.profiles import chrome
from tests.private_names import astray

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

PROGRAMS = Path(__file__).parent / "programs"
OFF, SHARE = 0.0015, 0.1
"""Milliseconds between two launches, which the profiler does not count, and part of the time that it may differ by."""


def _measured(program: str, folder: Path) -> tuple[Dump, Path]:
    trace = folder / "trace.json"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--measure", "--dump", str(folder / "dump")]
    subprocess.run([*command, str(PROGRAMS / program), str(trace)], check=True, timeout=300)
    return open_dump(folder / "dump"), trace


def test_times_are_the_profilers(tmp_path: Path) -> None:
    dump, trace = _measured("inference.py", tmp_path)

    found = attribute(dump, chrome.read(trace))
    profiled: dict[tuple[str, str, int | None], list[float]] = {}
    for run, own in zip(found.runs, found.joined, strict=True):
        if own.launch is not None:
            key = own.launch.graph, own.launch.kernel.name, own.launch.line
            profiled.setdefault(key, []).append(run.duration / 1000)
    times = measured(Graphs(dump))
    assert set(times) == set(profiled)
    calls = next(iter(times.values())).calls
    for key, durations in profiled.items():
        own_time = times[key].milliseconds
        expected = sum(durations) / 3  # calls that were profiled; an extern call has several kernels
        assert expected - 0.001 <= own_time <= expected * (1 + SHARE) + OFF, (key, own_time, expected)
    assert calls == 7
    assert 0.0005 < measuring(dump)[0].overhead < 0.005
    assert astray(dump.rows(Hook)) == {}


def test_launches_in_a_cuda_graph_are_timed_in_its_replays(tmp_path: Path) -> None:
    dump, trace = _measured("reduce_overhead.py", tmp_path)

    (plan,) = plans(dump)
    found = measured_graph(CompiledGraph(dump, plan.graph))
    assert found is not None
    assert [row.line for row in found.launches] == [step.launch.line for step in plan.steps]
    assert all(row.replayed > 0 for row in found.launches)
    (replay,) = found.replays
    assert replay.milliseconds is not None
    assert found.milliseconds < replay.milliseconds * 1.05
    kernels = [event for event in _events(trace) if event.get("cat") == "kernel" and "spin" not in event["name"]]
    profiled = sum(event["dur"] for event in kernels) / 3 / 1000
    assert 0.8 * profiled < found.milliseconds < 1.5 * profiled + 0.003 * len(found.launches)
    assert statistics.median(row.milliseconds or 0 for row in found.launches) > 0
    assert astray(dump.rows(Hook)) == {}


def _events(trace: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(trace.read_text())["traceEvents"]
    return events
