"""Where compile time went, as a table and as a trace."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.frontend.times import parts, stage_times, total
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.export.perfetto import trace
from inspect_compile.facts import Frame, Hook, Pass, Timed
from tests.handmade import GRAPH, graph, made


def timed_dump(root: Path) -> Dump:
    def timed(name: str, start: float, seconds: float, probes: float = 0.0, **more: object) -> Timed:
        return Timed(graph="0/0", name=name, start=100 + start, seconds=seconds, probes=probes, **more)  # type: ignore[arg-type]

    return made(
        root,
        graph(),
        Frame(graph="0/0", function="forward", file="net.py", line=1, status="compiled"),
        timed("GraphLowering.run", 1.0, 2.0, 0.5),
        timed("Scheduler.codegen", 3.0, 4.0),
        timed("entire_frame_compile", 0.0, 10.0, 0.7),
        timed("compile_file", 4.0, 3.0, thread=1),
        timed("something new", 11.0, 1.0),
        Pass(graph=GRAPH, index=0, parent=None, stage="post_grad", kind="stage", name="post_grad", seconds=0.5),
        Pass(graph=GRAPH, index=1, parent=0, stage="post_grad", kind="pass", name="fold", seconds=0.25),
        Hook(probe="lowering.nodes", target="torch.x", state="closed", calls=7, seconds=0.7),
    )


def test_what_is_timed_inside_of_another_or_beside_it_counts_once(tmp_path: Path) -> None:
    found = parts(timed_dump(tmp_path))

    assert [(part.name, part.depth, part.thread) for part in found] == [
        ("entire_frame_compile", 0, 0),
        ("GraphLowering.run", 1, 0),
        ("Scheduler.codegen", 1, 0),
        ("something new", 0, 0),
        ("compile_file", 0, 1),
    ]
    stages = {stage.stage: round(stage.seconds, 6) for stage in stage_times(found)}
    assert stages == {
        "Dynamo": 3.8,
        "lowering": 1.5,
        "code generation": 2.5,
        "building kernels": 1.5,
        "other": 1.0,
        "our probes": 0.7,
    }
    assert sum(stages.values()) == pytest.approx(total(found)) == 11.0


def test_the_table_tells_stages_compiles_passes_and_probes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed_dump(tmp_path / "dump")

    assert main(["show", str(tmp_path / "dump"), "time"]) == 0
    told = capsys.readouterr().out
    assert main(["show", str(tmp_path / "dump"), "time", "Scheduler.codegen"]) == 0
    one = capsys.readouterr().out

    assert "11.0 s in 1 compile, on 2 threads" in told
    rows = [row.split() for row in told.splitlines()]
    for row in (
        ["lowering", "1.5", "s", "13.64", "%", "███", "1"],
        ["11.0", "s", "0/0", "net.py:1", "forward"],
        ["0.2", "s", "fold", "post_grad", "1"],
        ["0.7", "s", "lowering.nodes", "7"],
    ):
        assert row in rows
    assert one.splitlines()[1].split() == [
        "3.0",
        "s",
        "4.0",
        "s",
        "4.0",
        "s",
        "0/0",
        "Scheduler.codegen",
        *["code", "generation"],
    ]


def test_the_trace_has_an_event_for_each_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump, file = timed_dump(tmp_path / "dump"), tmp_path / "trace.json"

    assert main(["show", str(dump.root), "time", "-o", str(file)]) == 0

    assert json.loads(file.read_bytes()) == trace([dump])
    assert capsys.readouterr().out.startswith(str(file))
    events = {event["name"]: event for event in json.loads(file.read_text())["traceEvents"]}
    assert {name for name, event in events.items() if event["ph"] == "X"} == {part.name for part in parts(dump)}
    run = events["GraphLowering.run"]
    assert (run["ts"], run["dur"], run["cat"], run["args"]["our probes ms"]) == (1e6, 2e6, "lowering", 500.0)


def test_a_trace_is_of_time_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timed_dump(tmp_path / "dump")

    assert main(["show", str(tmp_path / "dump"), "kernels", "-o", str(tmp_path / "x.json")]) != 0
    assert "kernels takes no --output; it goes with: flame time" in capsys.readouterr().err
