"""Profiles recorded on a GPU against the dumps of the same programs: what is attributed, and that it is right."""

import math
from collections import defaultdict
from pathlib import Path

import pytest

from inspect_compile.analysis.runtime.attribution import CERTAIN, LIKELY, Attribution, attribute
from inspect_compile.analysis.runtime.launch_plan import Plan, plans
from inspect_compile.dump import Dump
from inspect_compile.facts import Node, WrapperLine
from inspect_compile.profiles import chrome
from inspect_compile.profiles.read import read
from tests.profiles import recordings

ITEM_BYTES = {"float": 4, "double": 8, "long int": 8, "int": 4, "bool": 1, "c10::Half": 2, "c10::BFloat16": 2}


@pytest.mark.parametrize("name", recordings.NAMES)
def test_99_percent_of_the_compiled_time_is_attributed(name: str, tmp_path: Path) -> None:
    """What ran outside of compiled graphs is told as such, and not counted."""
    found = attribute(recordings.dump_of(name, tmp_path), chrome.read(recordings.trace_of(name)))

    own = [pair for pair in zip(found.runs, found.joined, strict=True) if not pair[1].reason.startswith("outside")]
    total = sum(run.duration for run, _ in own)
    left = {(run.name, joined.reason) for run, joined in own if not joined.is_joined}
    assert total > 0
    assert sum(run.duration for run, joined in own if joined.is_joined) >= 0.99 * total, left
    assert all(joined.reason for joined in found.joined if not joined.is_joined)


@pytest.mark.parametrize("name", recordings.NAMES)
def test_launches_are_those_of_the_code_in_its_order(name: str, tmp_path: Path) -> None:
    """Each call of a graph has each launch once; several kernels of one extern call follow each other."""
    dump = recordings.dump_of(name, tmp_path)
    found = attribute(dump, chrome.read(recordings.trace_of(name)))

    lines: dict[str, list[int]] = defaultdict(list)
    for place in sorted(range(len(found.runs)), key=lambda place: found.runs[place].start):
        launch = found.joined[place].launch
        if launch is not None and launch.line is not None and place in found.first:
            lines[found.joined[place].graph].append(launch.line)
    for plan in plans(dump):
        expected = [step.launch.line for step in plan.steps]
        seen = lines.get(plan.graph, [])
        assert len(seen) % len(expected) == 0
        assert seen == expected * (len(seen) // len(expected)), plan.graph
    assert lines


@pytest.mark.parametrize("name", recordings.NAMES)
def test_operators_had_the_buffers_of_their_launches(name: str, tmp_path: Path) -> None:
    """The profiler told how large the arguments of each Triton kernel were; the dump knows it of their buffers."""
    dump = recordings.dump_of(name, tmp_path)
    found = attribute(dump, chrome.read(recordings.trace_of(name)))
    events = recordings.events_of(name)["traceEvents"]
    operators = {
        event["args"]["External id"]: event["args"]
        for event in events
        if event.get("cat") == "cpu_op" and "Input Dims" in event.get("args", {})
    }
    sizes = {plan.graph: _buffer_bytes(dump, plan) for plan in plans(dump)}

    compared = 0
    for run, joined in zip(found.runs, found.joined, strict=True):
        args = operators.get(run.external or 0)
        if args is None or joined.launch is None or joined.launch.kernel.kind == "extern" or "CUDA graph" in joined.how:
            continue  # what runs around a replay is no operator of one launch
        for argument, dims, kind in zip(joined.launch.arguments, args["Input Dims"], args["Input type"], strict=False):
            known = sizes[joined.graph].get(argument)
            if known is not None and kind in ITEM_BYTES:
                assert math.prod(dims) * ITEM_BYTES[kind] <= known, (run.name, argument)
                compared += 1
    replayed = all("CUDA graph" in joined.how for joined in found.joined if joined.is_joined)
    assert compared > 0 or replayed or not operators  # a replay tells none, nor does a profile without shapes


def _buffer_bytes(dump: Dump, plan: Plan) -> dict[str, int]:
    """Argument of a launch → bytes, of inputs and of what the code allocates."""
    nodes = [row for row in dump.rows(Node, plan.graph) if row.stage == "post_grad" and row.op == "placeholder"]
    found = {node.name: node.values[0].bytes or 0 for node in nodes if node.values}
    rows = dump.rows(WrapperLine, plan.graph)
    return found | {row.buffer: row.bytes for row in rows if row.what == "allocate" and row.buffer and row.bytes}


def _given(tmp_path: Path, trace: Path) -> Attribution:
    return attribute(recordings.dump_of(recordings.GIVEN, tmp_path / "dump"), read(trace))


def _lines(found: Attribution) -> list[int | None]:
    order = sorted(zip(found.runs, found.joined, strict=True), key=lambda pair: pair[0].start)
    return [joined.launch.line if joined.launch else None for _, joined in order]


@pytest.fixture
def truth(tmp_path: Path) -> list[int | None]:
    """The launch lines of the 24 kernels of the given trace."""
    found = _given(tmp_path / "truth", recordings.trace_of(recordings.GIVEN))
    assert [joined.confidence for joined in found.joined] == [CERTAIN] * 24
    lines = _lines(found)
    assert None not in lines
    return lines


@pytest.mark.parametrize("parts", [1, 2])
def test_replays_of_a_cuda_graph_are_told_by_order(parts: int, tmp_path: Path, truth: list[int | None]) -> None:
    """A graph that was taken apart replays several of them in a call."""
    found = _given(tmp_path, recordings.as_replays(recordings.GIVEN, tmp_path / "trace.json", parts))

    assert _lines(found) == truth
    assert {joined.how for joined in found.joined} == {"compile id, CUDA graph, kernel order"}


def test_kernels_of_one_name_are_told_by_the_operators_around_them(tmp_path: Path, truth: list[int | None]) -> None:
    """As with unique_kernel_names=False; the dump's functions have the same name then."""
    dump = recordings.dump_of(recordings.GIVEN, tmp_path / "dump")
    for source in dump.root.rglob("source.py"):
        text = source.read_text().splitlines(keepends=True)
        source.write_text(
            "".join("def triton_(" + line.partition("(")[2] if line[:4] == "def " else line for line in text)
        )

    def renamed(event: dict[str, object]) -> dict[str, object]:
        is_triton = event.get("cat") == "kernel" and str(event["name"]).startswith("triton_")
        return {**event, "name": "triton_"} if is_triton else event

    trace = recordings.changed(recordings.GIVEN, tmp_path / "trace.json", renamed)
    assert _lines(attribute(dump, chrome.read(trace))) == truth


@pytest.mark.parametrize("with_ranges", [False, True])
def test_an_nsight_systems_export(with_ranges: bool, tmp_path: Path, truth: list[int | None]) -> None:
    """Without NVTX ranges the order of the kernels is all there is."""
    found = _given(tmp_path, recordings.as_nsys(recordings.GIVEN, tmp_path / "x.sqlite", with_ranges=with_ranges))

    assert _lines(found) == truth
    assert {joined.confidence for joined in found.joined} == {CERTAIN if with_ranges else LIKELY}
    assert found.calls == (3 if with_ranges else 0)


def test_the_csv_of_nsys_stats_and_of_nsight_compute(tmp_path: Path, truth: list[int | None]) -> None:
    for make in (recordings.as_nsys_trace_csv, recordings.as_ncu_csv):
        assert _lines(_given(tmp_path, make(recordings.GIVEN, tmp_path / "x.csv"))) == truth

    found = _given(tmp_path, recordings.as_nsys_sum_csv(recordings.GIVEN, tmp_path / "sum.csv"))
    told = {run.name: joined for run, joined in zip(found.runs, found.joined, strict=True)}
    assert sum(run.count for run in found.runs) == 24
    assert {joined.how for name, joined in told.items() if name.startswith("triton_")} == {"name"}
    assert all(not joined.launch and joined.reason for name, joined in told.items() if not name.startswith("triton_"))


def test_what_can_not_be_told_is_not_guessed(tmp_path: Path) -> None:
    """Another order of the operators, another compile id, and kernels that no call of a graph started."""
    changes = {"Torch-Compiled Region: 0/0": "Torch-Compiled Region: 7/0"}
    trace = recordings.changed(
        recordings.GIVEN,
        tmp_path / "a.json",
        lambda event: {**event, "name": changes.get(event["name"], event["name"])},
    )
    assert {joined.reason for joined in _given(tmp_path, trace).joined} == {"the dump has no graph of compile 7/0"}

    without_calls = recordings.changed(
        recordings.GIVEN, tmp_path / "b.json", lambda event: None if "CompiledFxGraph" in event["name"] else event
    )
    reasons = {joined.reason for joined in _given(tmp_path, without_calls).joined}
    assert reasons == {"outside of compiled graphs", "outside of compiled graphs: aten::convolution", *_ADDMM}

    moved = recordings.changed(
        recordings.GIVEN,
        tmp_path / "c.json",
        lambda event: {**event, "args": {**event["args"], "External id": 8}} if event.get("cat") == "kernel" else event,
    )
    found = _given(tmp_path, moved)
    assert sum(joined.launch is None for joined in found.joined) == 23
    assert {joined.reason for joined in found.joined if joined.launch is None} == {
        "the profile's External id and correlation name two calls"
    }


_ADDMM = ("outside of compiled graphs: aten::addmm",)
