"""The processes of a run on one clock: what each was at, and what nobody knows."""

import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.frontend.startup import AOT, DYNAMO, IMPORTS
from inspect_compile.analysis.frontend.whole_start import (
    NOT_KNOWN,
    STARTING,
    WholeStart,
    on_one_clock,
    start_of_run,
    whole_start,
)
from inspect_compile.commands import main
from inspect_compile.diagrams.startup import startup_svg
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Fact, Imported, Run, Timed
from inspect_compile.facts.caches import CacheLookup
from tests.running import COMMAND, inspected, run

BEGAN = 1767225600.0


def timed(name: str, start: float, seconds: float) -> Timed:
    return Timed(graph="0/0", name=name, start=BEGAN + start, seconds=seconds)


def imported(module: str, start: float, seconds: float) -> Imported:
    return Imported(module=module, start=BEGAN + start, seconds=seconds)


def recorded(root: Path, *facts: Fact, second: int, born: float | None = None, seconds: float | None = None) -> None:
    writer = Writer(root)
    started = f"2026-01-01T00:00:{second:02d}.000+00:00"
    writer.run(Run(started=started, argv=("serve.py",), born=None if born is None else BEGAN + born, seconds=seconds))
    for fact in facts:
        writer.add(fact)
    writer.flush()


def server(root: Path) -> WholeStart:
    """It imports, starts a worker that imports and compiles, and goes on for 2 s when that has ended."""
    recorded(root, imported("serve", 1.0, 3.0), second=1, born=0.5)
    compiles = timed("entire_frame_compile", 10.0, 8.0), timed("create_aot_dispatcher_function", 11.0, 4.0)
    recorded(root / "process_7", imported("torch", 6.0, 3.0), *compiles, second=5, born=4.0, seconds=14.0)
    recorded(root / "process_8", imported("torch", 6.0, 14.0), second=6)
    found = whole_start(Dump(root))
    assert found is not None
    return found


def test_each_second_counts_once(tmp_path: Path) -> None:
    found = server(tmp_path)
    assert round(found.seconds, 6) == 19.5
    rows = {(row.lane, row.process): round(row.seconds, 6) for row in found.lanes}
    assert rows == {
        (STARTING, "first process"): 0.5,
        (IMPORTS, "first process"): 3.0,
        (STARTING, "process 7"): 1.0,
        (IMPORTS, "process 7"): 3.0,
        (DYNAMO, "process 7"): 4.0,
        (AOT, "process 7"): 4.0,
        (IMPORTS, "process 8"): 3.0,
        (NOT_KNOWN, ""): 1.0,
    }
    assert found.lanes[-1].lane == NOT_KNOWN
    assert round(found.named, 6) == round(1 - 1 / 19.5, 6)


def test_what_others_do_while_a_process_does_nothing_known(tmp_path: Path) -> None:
    found = {row.process: row for row in server(tmp_path).processes}
    first, worker = found["first process"], found["process 7"]
    assert [round(one, 6) for one in (first.start, first.last, first.named)] == [0.0, 3.5, 3.5]
    assert [round(one, 6) for one in (first.meanwhile, first.not_known)] == [15.0, 1.0]
    # until it ended, at 19 s of the clock
    assert [round(one, 6) for one in (worker.start, worker.last, worker.named)] == [3.5, 17.5, 12.0]
    assert [round(one, 6) for one in (worker.meanwhile, worker.not_known)] == [2.0, 1.0]


def test_the_picture_has_the_lanes_of_each_process(tmp_path: Path) -> None:
    server(tmp_path)
    found = on_one_clock(Dump(tmp_path))
    assert found is not None
    svg = startup_svg(found, "serve.py")
    for process in ("first process", "process 7", "process 8"):
        assert svg.count(f">{process}<") == 1
    assert svg.count(f">{IMPORTS}<") == 3


def test_the_list_of_what_can_be_drawn_says_what_drawing_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process that imported, and of which no timer was recorded."""
    recorded(tmp_path, imported("torch", 1.0, 3.0), second=1, born=0.5)
    assert start_of_run(Dump(tmp_path)) is None
    main(["draw", str(tmp_path), "--list"])
    assert "startup no timers were recorded" in " ".join(capsys.readouterr().out.split())
    assert main(["draw", str(tmp_path), "startup"]) == 2
    assert "no timers were recorded" in capsys.readouterr().err


def test_what_is_no_clock(tmp_path: Path) -> None:
    recorded(tmp_path, imported("x", 1e308, 1e308), imported("y", float("nan"), 1.0), second=0)
    found = whole_start(Dump(tmp_path))
    assert found is None or found.named <= 1.0


def test_a_run_that_did_nothing_of_this(tmp_path: Path) -> None:
    recorded(tmp_path, CacheLookup(graph="0/0", cache="fx_graph", outcome="miss"), second=0)
    assert whole_start(Dump(tmp_path)) is None


def test_a_program_that_waits_for_a_process_that_compiles(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(
        "import torch\n@torch.compile(backend='eager')\ndef f(x):\n    return x + 1\nf(torch.ones(2))\n"
    )
    (tmp_path / "script.py").write_text(
        "import subprocess, sys, torch\nsubprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    inspected(["script.py"], tmp_path, options=["--level", "facts"])
    dump = Dump(tmp_path / "dump")
    found = whole_start(dump)
    assert found is not None
    first, worker = found.processes
    assert first.process == "first process"
    assert worker.start > first.start == pytest.approx(0.0)
    assert first.meanwhile > 0
    if sys.platform == "linux":
        assert dump.run.born is not None
        assert {row.process for row in found.lanes if row.lane == STARTING} == {"first process", worker.process}
    assert sum(row.seconds for row in found.lanes) == pytest.approx(found.seconds)
    shown = run([*COMMAND, "show", "dump", "time"], tmp_path).stdout
    assert "the whole run on one clock  2 processes" in shown
    assert "what each second was" in shown
    assert "not known" in shown
