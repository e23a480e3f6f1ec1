"""What stopped or interrupted a compile is recorded, also where a limit leaves later compiles of the frame out."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.overview.summary import summarize_run
from inspect_compile.child.limits.first import COMPILES
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphBreak, GuardedCalls, Hook, Recompile, Remark
from inspect_compile.graph import Graphs
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import dynamo as names
from tests.conftest import run_once
from tests.running import inspected, last_words

FAULTY = Path(__file__).parents[1] / "harmless/faulty"
PROGRAM = """
import torch
x = torch.ones(4)
def calls(function, count, **options):
    code = torch.compile(function, backend="eager", **options)
    for number in range(count):
        try:
            code(x, "a" * (number + 1))
        except Exception as error:
            print(function.__name__, type(error).__name__)
def default(x, s):
    return x * 2 if s else x
calls(default, 10)
torch._dynamo.config.recompile_limit = 11
def broken(x, s):
    x = x * 2
    if s == "a" * 10:
        print("late")
    return x + 1
calls(broken, 13)
def whole(x, s):
    return x * 2 if s else x
calls(whole, 12, fullgraph=True)
def failing(x, s):
    if s == "a" * 10:
        raise ValueError
    return x * 2
calls(failing, 11)
for _ in range(5):
    calls(default, 10)
"""
LIMITS = {"newest": ("--keep", "1"), "size": ("--max-dump", "24kB")}


@pytest.fixture(scope="module")
def place(shared_folder: Path) -> Path:
    folder = shared_folder / "stops"

    def run(folder: Path):  # type: ignore[no-untyped-def]
        (folder / "script.py").write_text(PROGRAM)
        return inspected(["script.py"], folder)

    done = run_once(folder, run)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["late", "whole FailOnRecompileLimitHit", "failing ValueError"]
    (folder / "words").write_text("\n".join(last_words(done.stderr)))
    return folder


def test_that_the_limit_was_reached_is_recorded_and_is_no_compile(place: Path) -> None:
    dump = Dump(place / "dump")
    (stopped,) = [row for row in dump.rows(Frame) if row.limit and row.function == "default"]

    assert (stopped.graph, stopped.status, stopped.limit) == (f"0/{COMPILES}", "skipped", "recompile_limit")
    assert "run eagerly from now on" in (stopped.reason or "")
    assert dump.rows(Recompile, stopped.graph)[-1].failed[0].compile_id == f"0/{COMPILES - 1}"
    assert not [row for row in dump.run.omitted if row.graph == "0"]
    assert "default" not in (place / "words").read_text()


def test_the_finding_says_what_later_calls_do(place: Path) -> None:
    given_up = {
        row.why.partition(" ")[0]: row
        for row in findings(Graphs(Dump(place / "dump")))
        if row.kind == "recompile-limit"
    }

    assert set(given_up) == {"default", "broken", "whole"}
    assert "every later call that fits no earlier compile runs eagerly" in given_up["default"].why
    assert "raises an error" in given_up["whole"].why
    assert f"the call that reached it: s: {'a' * 8!r} → {'a' * 9!r}" in given_up["default"].why
    assert given_up["default"].to_do.startswith("Dynamo treats s as a constant")


def test_a_break_and_a_failure_beyond_the_limit_are_recorded_with_their_compile(place: Path) -> None:
    dump = Dump(place / "dump")
    late = [row.graph for row in dump.rows(GraphBreak)]
    frames = {row.graph: row.status for row in dump.rows(Frame)}

    assert late == ["1/9", "4/9"]
    assert (frames["1/9"], frames["4/9"]) == ("compiled", "skipped")
    assert {row.graph for row in dump.rows(Recompile)} >= {"1/9", "4/9"}
    assert sum(row.code == "graph-break" for row in dump.rows(Remark)) == 2
    counts = {row.graph: row.count for row in dump.run.omitted}
    assert counts["1"] == 11 - COMPILES


def test_the_overview_counts_the_functions_that_run_eagerly(place: Path) -> None:
    told = summarize_run(Dump(place / "dump"))

    assert told.eager["limit"] == 3
    assert told.eager["skipped"] == 1
    assert told.eager["functions"] >= 4


def test_the_overview_says_what_share_of_the_calls_ran_eagerly(place: Path) -> None:
    dump = Dump(place / "dump")
    told, (calls,) = summarize_run(dump), dump.rows(GuardedCalls)

    assert calls.fitted == 5 * 8
    assert told.eager_calls_why == {"limit": 2 + 5 * 2 + 2, "skipped": 1}  # of `default`, again, `broken`; of `failing`
    assert told.checked_calls == calls.checked + 1
    assert calls.checked == calls.fitted + calls.attempts + 14 - calls.limited


@pytest.mark.parametrize("target", [names.CACHE_SIZE, names.RECOMPILE_LIMIT, names.COMPILES], ids=str)
def test_calls_are_not_counted_where_a_hook_that_counts_fails(tmp_path: Path, target: Name) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    faults = {"PYTHONPATH": str(FAULTY), "HARMLESS_FAULTS": json.dumps({str(target): "raise"})}
    done = inspected(["script.py"], tmp_path, environment=faults)
    dump = Dump(tmp_path / "dump")

    assert done.returncode == 0, done.stderr
    assert {row.target for row in dump.rows(Hook) if row.state == "failed"} == {str(target)}
    assert not dump.rows(GuardedCalls)
    assert not summarize_run(dump).eager_calls


@pytest.mark.parametrize("limit", LIMITS)
def test_no_limit_drops_what_stopped_a_compile(place: Path, tmp_path: Path, limit: str) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    done = inspected(["script.py"], tmp_path, options=LIMITS[limit])
    whole, left = Dump(place / "dump"), Dump(tmp_path / "dump")

    assert done.returncode == 0, done.stderr
    assert left.run.omitted
    assert len(left.rows(Frame)) < 30
    assert stops(left) == stops(whole)
    assert summarize_run(left).eager_calls == summarize_run(whole).eager_calls


def stops(dump: Dump) -> set[tuple[str, str, str]]:
    ends = {(row.function, row.status, row.limit) for row in dump.rows(Frame) if row.status != "compiled"}
    breaks = {(row.reason, "", "") for row in dump.rows(GraphBreak)}
    remarks = {
        (row.code, row.message, "") for row in dump.rows(Remark) if row.code in ("graph-break", "recompile-limit")
    }
    return ends | breaks | remarks
