"""What is told of frames, breaks, recompiles and guards, held against what torch itself logs and explains of them."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.analysis.frontend.frames import FrameRun, causes, frames
from inspect_compile.dump import Dump
from inspect_compile.facts import FailedGuard, Frame, GraphBreak, Guard, Recompile, Remark, Skip
from inspect_compile.torch_compat import dynamo as names
from tests.conftest import run_once
from tests.private_names import covers
from tests.running import inspected, plain

PROGRAM = Path(__file__).parents[1] / "programs" / "frames.py"
_LOGGED = re.compile(r"\[(?P<id>\d+/\d+)(?:_\d+)?\] \[__(?P<artifact>\w+)\] (?P<text>.*)")
_REASON = re.compile(r"\s+- (?P<earlier>\d+/\d+): (?P<condition>.*)")
_LEAF = re.compile(r"[|+\- ]*(?P<kind>[A-Z][A-Z_]+): (?P<condition>.*)")
_OWN = re.compile(r"\b\d{9,}\b|\b0x[0-9a-f]+\b|(?<=___)\d+\b")

Logged = dict[str, list[tuple[str, str]]]


@pytest.fixture(scope="module")
def dump(shared_folder: Path) -> Dump:
    folder = shared_folder / "frames"
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder))
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


@pytest.fixture(scope="module")
def alone(shared_folder: Path) -> subprocess.CompletedProcess[str]:
    """The same program without us, with torch's logs, and explained first."""
    logs = {"TORCH_LOGS": "graph_breaks,recompiles,guards,perf_hints", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    done = run_once(
        shared_folder / "frames_alone", lambda folder: plain([PROGRAM, "explain"], folder, environment=logs)
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def logged(alone: subprocess.CompletedProcess[str]) -> Logged:
    """Artifact → (compile compile_id, line)."""
    found: Logged = {}
    for line in alone.stderr.partition("\nexplained\n")[2].splitlines():
        if match := _LOGGED.search(line):
            found.setdefault(match["artifact"], []).append((match["id"], match["text"]))
    return found


def condition(text: str) -> str:
    """Without the user's line behind it, and without what is this process's own."""
    return _OWN.sub("#", text.partition("  # ")[0].strip())


def test_graph_breaks_are_those_that_torch_logs(dump: Dump, logged: Logged) -> None:
    told = [(row.graph, f"{row.where.file}:{row.where.line}") for row in dump.rows(GraphBreak) if row.where is not None]
    head = "Graph break in user code at "
    assert told == [
        (compile_id, text.removeprefix(head)) for compile_id, text in logged["graph_breaks"] if text.startswith(head)
    ]
    assert len(told) == 2
    lines = {text.strip() for _, text in logged["graph_breaks"]}
    for row in dump.rows(GraphBreak):
        assert row.reason.splitlines()[-1] in lines
        assert {f"Explanation: {row.explanation}", *(f"Hint: {hint}" for hint in row.hints)} <= lines


def test_recompiles_are_those_that_torch_logs(dump: Dump, logged: Logged) -> None:
    reasons = [
        (compile_id, match["earlier"], condition(match["condition"]))
        for compile_id, text in logged["recompiles"]
        if (match := _REASON.match(text))
    ]
    told = [
        (row.graph, failed.compile_id, condition(failed.condition))
        for row in dump.rows(Recompile)
        for failed in row.failed
    ]
    assert told == reasons
    assert len(told) > 10


def test_guards_are_those_that_torch_logs(dump: Dump, logged: Logged) -> None:
    leaves = [
        (compile_id, match["kind"], match["condition"])
        for compile_id, text in logged["guards"]
        if (match := _LEAF.match(text))
    ]
    there = {(compile_id, condition(text)) for compile_id, _, text in leaves}
    told = {(row.graph, condition(code)) for row in dump.rows(Guard) if row.source for code in row.code}
    assert told - there == set()
    tensors = re.compile(r"check_tensor\((?P<source>.*?), (?:Tensor|Parameter), ")
    checked = [(compile_id, tensors.match(text)) for compile_id, kind, text in leaves if kind == "TENSOR_MATCH"]
    assert {(row.graph, row.source) for row in dump.rows(Guard) if row.kind == "TENSOR_MATCH"} == {
        (compile_id, match["source"]) for compile_id, match in checked if match is not None
    }
    equal = {(compile_id, condition(text)) for compile_id, kind, text in leaves if kind == "EQUALS_MATCH"}
    assert equal - told == set()
    assert all(row.where is not None and row.where.code for row in dump.rows(Guard) if row.source)
    sized = {row.value for row in dump.rows(Guard) if row.kind == "TENSOR_MATCH"}
    assert {"float32[8, 4]", "float64[8, 4]"} <= sized


def test_the_time_of_the_guards_is_told_where_torch_takes_it(dump: Dump, logged: Logged) -> None:
    timed = [row.graph for row in dump.rows(Frame) if row.guard_seconds is not None]
    assert timed == [compile_id for compile_id, text in logged["guards"] if text.startswith("Guard eval latency")]
    assert all(0 < row.guard_seconds < 0.1 for row in dump.rows(Frame) if row.guard_seconds is not None)


def test_fallbacks_are_those_that_torch_hints_at(dump: Dump, logged: Logged) -> None:
    head = "Using FallbackKernel: "
    hinted = [text.removeprefix(head) for _, text in logged["perf_hints"] if text.startswith(head)]
    assert len(hinted) == 1
    told = [row.message for row in dump.rows(Remark) if row.code == "fallback"]
    assert len(told) == 1
    assert hinted[0].removeprefix("torch.ops.") in told[0]


@pytest.mark.parametrize("function", ["broken", "whole"])
def test_counts_are_those_that_torch_explains(
    dump: Dump, alone: subprocess.CompletedProcess[str], function: str
) -> None:
    explained: dict[str, Any] = json.loads(alone.stdout)[function]
    runs = [run for run in frames(dump) if function in run.function]
    compiles = [one for run in runs for one in run.compiles]
    ended = [one.frame for one in compiles if one.frame is not None]

    assert sum(frame.graphs for frame in ended) == explained["graphs"]
    assert sum(len(one.breaks) for one in compiles) == explained["breaks"]
    reasons = [row.reason.splitlines()[-1] for one in compiles for row in one.breaks]
    assert reasons == [text.splitlines()[0] for text in explained["reasons"]]
    # Some stand twice where torch logs them.
    told = {(row.kind, row.source) for one in compiles for row in dump.rows_of_compile(Guard, one.compile_id)}
    assert told == {(kind, source) for kind, source in explained["guards"]}


def run_of(dump: Dump, function: str) -> FrameRun:
    return next(run for run in frames(dump) if run.function.rpartition(".")[2] == function)


def test_each_frame_stands_under_the_one_that_started_it(dump: Dump) -> None:
    told = [(run.depth, run.function) for run in frames(dump) if "broken" in run.function]
    assert [depth for depth, _ in told] == [0, 1, 2]
    assert [name.partition("_at_")[0] for _, name in told[1:]] == ["torch_dynamo_resume_in_broken"] * 2
    assert all(run.caller is not None and run.caller.file == str(PROGRAM) for run in frames(dump))


CHANGES = {
    "changing": [
        ("size of x in dimension 0", "8", "9", "float32[9, 4]"),
        ("dtype of x", "float32", "float64", "float64[8, 4]"),
        ("n", "1", "3", "3"),
        ("options['by']", "1.5", "2.5", "2.5"),
        ("requires_grad of x", "False", "True", "float32[8, 4]"),
        ("G['SCALE']", "2.0", "3.0", "3.0"),
    ],
    "forward": [("self.times", "2", "3", "3")],
    "two": [("which arguments are one tensor", "all different", '["a", "b"]', ""), ("grad_mode", "True", "False", "")],
    "calls": [("function.__closure__[0].cell_contents", "1", "2", "2")],
    "limited": [("n", "0", "1", "1"), ("n", "1", "2", "2")],
}


def change(failed: FailedGuard) -> tuple[str, str, str, str]:
    return failed.what, failed.before, failed.after, failed.value


@pytest.mark.parametrize("function", CHANGES)
def test_a_recompile_tells_the_old_and_the_new_value(dump: Dump, function: str) -> None:
    again = [one.recompile for one in run_of(dump, function).compiles if one.recompile is not None]
    for row, expected in zip(again, CHANGES[function], strict=True):
        found = causes(dump, row)
        assert expected in [change(cause.failed) for cause in found]
        assert all(cause.where is not None for cause in found if cause.failed.source)


def test_a_condition_on_sizes_tells_the_sizes(dump: Dump) -> None:
    (row,) = (one.recompile for one in run_of(dump, "sized").compiles if one.recompile is not None)
    assert [(failed.condition, failed.after) for failed in row.failed] == [("6 <= x.size()[0]", "x.size()[0] = 3")]


def test_a_limit_that_is_reached_is_told_with_its_setting(dump: Dump) -> None:
    last = run_of(dump, "limited").compiles[-1].frame
    assert last is not None
    assert last.status == "skipped"
    assert last.reason is not None
    assert "torch._dynamo.config.recompile_limit is 2; calls that fit no earlier compile run eagerly" in last.reason
    (remark,) = (row for row in dump.rows(Remark) if row.code == "recompile-limit")
    assert (remark.knob, remark.numbers) == ("torch._dynamo.config.recompile_limit", {"limit": 2})


@pytest.mark.skipif(not covers(names.SKIP_REASON, torch.__version__), reason="this torch gives no reason")
def test_a_skipped_frame_tells_why(dump: Dump) -> None:
    assert "No ops traced for the FX graph" in run_of(dump, "nothing").skip
    assert {row.file for row in dump.rows(Skip)} == {str(PROGRAM)}
