"""The processes of a run on one clock: what each was at, and what nobody knows."""

import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.frontend.process_lives import MOST
from inspect_compile.analysis.frontend.startup import AOT, DYNAMO, IMPORTS
from inspect_compile.analysis.frontend.whole_start import (
    ENDING,
    NOT_KNOWN,
    OWN,
    QUEUED,
    STARTING,
    WholeStart,
    start_of_run,
    whole_start,
)
from inspect_compile.commands import main
from inspect_compile.diagrams.startup import startup_svg
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Fact, Imported, ParentSeen, ProcessEnd, ProcessLife, Run, Stretch, Timed
from inspect_compile.facts.caches import CacheLookup
from inspect_compile.facts.processes import ImportSpan, StretchSpan
from tests.running import COMMAND, inspected, run

BEGAN = 1767225600.0


def timed(name: str, start: float, seconds: float) -> Timed:
    return Timed(graph="0/0", name=name, start=BEGAN + start, seconds=seconds)


def imported(module: str, start: float, seconds: float) -> Imported:
    return Imported(module=module, start=BEGAN + start, seconds=seconds)


def recorded(
    root: Path, *facts: Fact, second: int, born: float | None = None, seconds: float | None = None, pid: int = 0
) -> None:
    writer = Writer(root)
    started, at = f"2026-01-01T00:00:{second:02d}.000+00:00", None if born is None else BEGAN + born
    writer.run(Run(started=started, argv=("serve.py",), born=at, seconds=seconds, pid=pid))
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
    assert found.not_known.lane == NOT_KNOWN
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
    found = start_of_run(Dump(tmp_path))
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


def life(pid: int, start: float, last: float, **told: Any) -> ProcessLife:
    """A process that has ended; `start` and `last` in seconds since the run began."""
    started = BEGAN + start
    return ProcessLife(pid=pid, born=started, started=started + 0.5, last=BEGAN + last, is_last=True, **told)


def span(start: float, seconds: float, main: float, *, before: float = 0.0, children: float = 0.0) -> StretchSpan:
    return StretchSpan(BEGAN + start, seconds, before, main, children)


def look(at: float, main: float, waits_in: str = "") -> ParentSeen:
    return ParentSeen(BEGAN + at, main, waits_in)


def waits_for_a_helper(root: Path, *, waits_in: str = "do_wait", gone: float | None = None) -> WholeStart:
    """It imports for 2 s, waits for a helper from 3 to 7 s, works for 1 s, and compiles from 8 to 10 s."""
    helper = life(
        7,
        3.0,
        6.0,
        parent_pid=5,
        name="helper.py",
        used=2.0,
        imports=(ImportSpan("json", BEGAN + 3.5, 2.5),),
        parent=(look(3.5, 2.0), look(6.0, 2.0, waits_in)),
    )
    recorded(
        root,
        imported("torch", 1.0, 2.0),
        Stretch(start=BEGAN + 3.0, seconds=5.0, before=2.0, main=1.0, children=2.5),
        timed("entire_frame_compile", 8.0, 2.0),
        helper,
        *([] if gone is None else [ProcessEnd(pid=7, at=BEGAN + gone)]),
        second=1,
        born=0.5,
        pid=5,
    )
    found = whole_start(Dump(root))
    assert found is not None
    return found


def shares(found: WholeStart) -> dict[tuple[str, str], float]:
    return {(row.lane, row.process): round(row.seconds, 6) for row in found.lanes}


def test_a_helper_that_compiles_nothing_has_its_lanes(tmp_path: Path) -> None:
    """What its parent was on no processor, behind the last moment that it told, it took to take itself down: as far as
    it used a quarter of a processor for that.
    """
    found = waits_for_a_helper(tmp_path)
    assert shares(found) == {
        (STARTING, "first process"): 0.5,
        (IMPORTS, "first process"): 2.0,
        (STARTING, "process 7, helper.py"): 0.5,
        (IMPORTS, "process 7, helper.py"): 2.5,
        (ENDING, "process 7, helper.py"): 1.0,
        (OWN, "first process"): 1.0,
        (DYNAMO, "first process"): 2.0,
        (NOT_KNOWN, ""): 0.0,
    }
    assert [(row.process, row.waits_for, round(row.seconds, 6), row.waits_in) for row in found.waits] == [
        ("first process", "process 7, helper.py", 4.0, "")
    ]
    first = found.processes[0]
    assert [round(one, 6) for one in (first.named, first.own, first.meanwhile, first.not_known)] == [4.5, 1.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("waits_in", "gone", "took"),
    [
        ("", None, 0.5),
        ("hrtimer_nanosleep", None, 0.5),
        ("poll_schedule_timeout.constprop.0", None, 1.0),
        ("", 6.9, 0.9),
        ("do_wait", 6.9, 0.9),
    ],
)
def test_how_long_a_process_takes_itself_down(tmp_path: Path, waits_in: str, gone: float | None, took: float) -> None:
    """It is told by who saw it gone, else by the processor time that its parent's children used beyond what it told."""
    found = waits_for_a_helper(tmp_path, waits_in=waits_in, gone=gone)
    assert shares(found)[ENDING, "process 7, helper.py"] == took
    assert round(shares(found)[NOT_KNOWN, ""], 6) == round(1.0 - took, 6)


def test_with_another_child_alive_nobody_knows_whose_time_it_was(tmp_path: Path) -> None:
    found = waits_for_a_helper(tmp_path)
    writer = Writer(tmp_path)
    writer.add(life(8, 3.0, 6.5, parent_pid=5, used=1.0))
    writer.flush()
    again = whole_start(Dump(tmp_path))
    assert again is not None
    assert (ENDING, "process 7, helper.py") in shares(found)
    assert (ENDING, "process 7, helper.py") not in shares(again)


def test_a_process_on_its_own_says_what_has_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 4 s between import and compile it was on a processor for 1 s."""
    stretch = Stretch(start=BEGAN + 3.0, seconds=4.0, before=2.0, main=1.0)
    recorded(
        tmp_path, imported("torch", 1.0, 2.0), stretch, timed("entire_frame_compile", 7.0, 3.0), second=1, born=0.0
    )
    found = whole_start(Dump(tmp_path))
    assert found is not None
    assert shares(found)[NOT_KNOWN, ""] == 3.0
    assert found.startup.elsewhere == pytest.approx(3.0)
    main(["show", str(tmp_path), "time"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "from the start of the process 10.0 s, 70.00 % have a name" in shown
    assert "own code 6.0 s 7.0 s 1.0 s" in shown
    assert "not known 3.0 s" in shown


def test_a_process_that_had_no_processor(tmp_path: Path) -> None:
    """Of 4 s it worked for 1 s, and was ready to run for 2 s more."""
    stretch = Stretch(start=BEGAN + 3.0, seconds=4.0, before=2.0, main=1.0, queued=2.0)
    recorded(
        tmp_path, imported("torch", 1.0, 2.0), stretch, timed("entire_frame_compile", 7.0, 3.0), second=1, born=0.0
    )
    found = whole_start(Dump(tmp_path))
    assert found is not None
    named = shares(found)
    assert [named[lane, "first process"] for lane in (OWN, QUEUED)] == [1.0, 2.0]
    assert named[NOT_KNOWN, ""] == 1.0
    assert [round(one, 6) for one in (found.processes[0].own, found.processes[0].queued)] == [1.0, 2.0]


def test_a_process_that_was_killed_is_known_by_those_that_it_started(tmp_path: Path) -> None:
    """It told no more once it had started its worker, which saw it do nothing from then on until its own end."""
    engine = ProcessLife(pid=5, born=BEGAN, started=BEGAN + 1.0, last=BEGAN + 2.0, name="EngineCore")
    worker = life(7, 2.0, 10.0, parent_pid=5, parent=(look(2.5, 1.0, "ep_poll"), look(10.0, 2.5)))
    recorded(tmp_path / "process_7", timed("entire_frame_compile", 3.0, 7.0), second=2, born=2.0, pid=7, seconds=8.0)
    recorded(tmp_path, engine, worker, second=0)
    found = whole_start(Dump(tmp_path))
    assert found is not None
    assert [(row.process, row.waits_for, round(row.seconds, 6), row.waits_in) for row in found.waits] == [
        ("process 5, EngineCore", "process 7", 5.5, "ep_poll")
    ]


def test_lives_that_cannot_be_true(tmp_path: Path) -> None:
    """Times of another clock, and looks at another process that had the number."""
    odd = ProcessLife(
        pid=9, started=1e300, last=BEGAN, imports=(ImportSpan("x", BEGAN, 1.0),), stretches=(span(0.0, 1.0, 0.5),)
    )
    strange = life(10, 2.0, 3.0, parent_pid=5, stretches=(span(2.5, 1e300, 1e300),), parent=(look(5.0, 1e9),))
    recorded(tmp_path, odd, strange, imported("torch", 1.0, 2.0), second=1, born=0.5, pid=5)
    found = whole_start(Dump(tmp_path))
    assert found is not None
    assert {row.process for row in found.processes} == {"first process", "process 10"}
    assert round(found.seconds, 6) == 2.5


def test_a_run_of_very_many_processes(tmp_path: Path) -> None:
    recorded(tmp_path, imported("torch", 1.0, 2.0), second=1, pid=5)
    writer = Writer(tmp_path)
    for pid in range(100, 3100):
        writer.add(life(pid, 2.0, 3.0, parent_pid=5))
    writer.flush()
    found = whole_start(Dump(tmp_path))
    assert found is not None
    assert len(found.processes) == MOST + 1


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
    assert "where each second went" in shown
    assert "not known" in shown
