"""A process from its start: lanes, what is imported within a compile, and functions that were compiled again."""

import inspect
import re
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.frontend.startup import (
    AOT,
    DYNAMO,
    FIRST_CALLS,
    IMPORTS,
    INDUCTOR,
    Startup,
    regions,
    startup,
)
from inspect_compile.diagrams.startup import startup_svg
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Fact, FirstCall, Frame, Imported, Run, Timed
from inspect_compile.knowledge.frontend.compile_stages import BUILDING, CAPTURE, TUNING, stage_of

STARTED = "2026-01-01T00:00:00.000+00:00"
BEGAN = 1767225600.0


def timed(name: str, start: float, seconds: float, thread: int = 0, graph: str = "0/0") -> Timed:
    return Timed(graph=graph, name=name, start=BEGAN + start, seconds=seconds, thread=thread)


def imported(module: str, start: float, seconds: float) -> Imported:
    return Imported(module=module, start=BEGAN + start, seconds=seconds)


def recorded(root: Path, *facts: Fact, started: str = STARTED) -> Dump:
    writer = Writer(root)
    writer.run(Run(started=started, argv=("<train>.py",)))
    for fact in facts:
        writer.add(fact)
    writer.flush()
    return Dump(root)


def lanes(found: Startup | None) -> dict[str, tuple[float, float, float]]:
    assert found is not None
    return {lane.lane: (round(lane.first, 6), round(lane.last, 6), round(lane.seconds, 6)) for lane in found.lanes}


COMPILE = (
    imported("torch", 0.5, 2.0),
    imported("torch._inductor", 4.5, 1.0),
    timed("entire_frame_compile", 4.0, 10.0),
    timed("create_aot_dispatcher_function", 5.0, 8.0),
    timed("GraphLowering.run", 6.0, 3.0),
    timed("async_compile.wait", 9.0, 4.0),
    timed("compile_file", 9.0, 2.0, thread=1, graph=""),
    timed("compile_file", 10.0, 3.0, thread=2, graph=""),
)


def test_what_runs_inside_another_counts_for_itself(tmp_path: Path) -> None:
    found = startup(recorded(tmp_path, *COMPILE))
    assert lanes(found) == {
        IMPORTS: (0.5, 5.5, 3.0),
        DYNAMO: (4.0, 14.0, 1.5),
        AOT: (5.5, 6.0, 0.5),
        INDUCTOR: (6.0, 9.0, 3.0),
        BUILDING: (9.0, 13.0, 4.0),
    }
    assert found is not None
    assert (round(found.seconds, 6), round(found.elsewhere, 6)) == (14.0, 2.0)
    assert {bar.thread for bar in found.bars if bar.lane == BUILDING} == {0, 1, 2}


def test_a_module_that_compiles_when_it_is_imported(tmp_path: Path) -> None:
    dump = recorded(tmp_path, imported("train", 1.0, 9.0), timed("entire_frame_compile", 4.0, 2.0))
    assert lanes(startup(dump)) == {IMPORTS: (1.0, 10.0, 7.0), DYNAMO: (4.0, 6.0, 2.0)}


@pytest.mark.parametrize("started", ["", "yesterday", "9999-99-99"])
def test_a_start_that_is_not_known(tmp_path: Path, started: str) -> None:
    dump = recorded(tmp_path, *COMPILE, started=started)
    assert startup(dump) is None


def test_functions_and_how_often_they_were_compiled(tmp_path: Path) -> None:
    rows = [
        Frame(graph=f"0/{number}", function="Block.forward", file="/a/model.py", line=3, status="compiled")
        for number in (1, 0)
    ]
    other = Frame(graph="1/0", function="head", file="/a/model.py", line=9, status="compiled")
    times = [timed("entire_frame_compile", 3.0 * at, 1.0 + at, graph=name) for at, name in enumerate(("0/0", "0/1"))]
    dump = recorded(tmp_path, *rows, other, *times)
    found = [(row.function, row.place, row.compiles, row.seconds, row.compile_ids) for row in regions(dump)]
    assert found == [
        ("Block.forward", "model.py:3", 2, 3.0, ("0/0", "0/1")),
        ("head", "model.py:9", 1, 0.0, ("1/0",)),
    ]


def test_the_picture_has_a_line_for_each_thread_and_escapes_names(tmp_path: Path) -> None:
    hostile = imported("<script>&\x1b", 2.5, 1.4)
    found = startup(recorded(tmp_path, *COMPILE, hostile))
    assert found is not None
    svg = startup_svg(found, "<b>")
    assert "<script>" not in svg
    assert "\x1b" not in svg
    assert "&lt;script&gt;" in svg
    for lane in found.lanes:
        assert f">{lane.lane}<" in svg


def test_passes_one_after_the_other_are_one_bar(tmp_path: Path) -> None:
    passes = [timed("pass.x", 5.0 + at * 1e-3, 0.95e-3) for at in range(1000)]
    found = startup(recorded(tmp_path, timed("entire_frame_compile", 5.0, 1.0), *passes))
    assert found is not None
    assert [lane.bars for lane in found.lanes if lane.lane == INDUCTOR] == [1]


def test_times_that_are_no_clocks(tmp_path: Path) -> None:
    far = [msgspec.structs.replace(COMPILE[2], start=1e308, seconds=1e308), imported("x", -1e308, 1e308)]
    found = startup(recorded(tmp_path, *COMPILE, *far))
    assert found is None or startup_svg(found, "x").startswith("<")


def test_the_capture_of_a_cuda_graph_is_a_lane(tmp_path: Path) -> None:
    """It begins when the compile has ended, at the second call."""
    dump = recorded(tmp_path, timed("entire_frame_compile", 1.0, 2.0), timed("CUDAGraphNode.record", 4.0, 0.5))

    assert lanes(startup(dump)) == {DYNAMO: (1.0, 3.0, 2.0), CAPTURE: (4.0, 4.5, 0.5)}


def test_a_clock_that_is_set_back(tmp_path: Path) -> None:
    """What would begin before the process has no place; the rest keeps its own."""
    dump = recorded(
        tmp_path,
        imported("torch", 0.5, 1.0),
        timed("entire_frame_compile", 2.0, 2.0),
        timed("backend_compile", -3600.0, 1.0),
        timed("inductor_compile", -3598.0, 1.0),
    )

    found = startup(dump)
    assert lanes(found) == {IMPORTS: (0.5, 1.5, 1.0), DYNAMO: (2.0, 4.0, 2.0)}
    assert found is not None
    assert (found.seconds, round(found.elsewhere, 6), found.unplaced) == (4.0, 1.0, 2)
    assert "2 pieces of work left out: the machine&#x27;s clock was set back during the run" in startup_svg(
        found, "a.py"
    )


def test_what_is_tuned_in_a_first_call_counts_for_itself(tmp_path: Path) -> None:
    """Kernels with several configurations are tuned at their first launch, and another thread builds meanwhile."""
    dump = recorded(
        tmp_path,
        timed("entire_frame_compile", 1.0, 2.0),
        FirstCall(graph="0/0", part="forward", start=BEGAN + 3.5, seconds=4.0),
        timed("CachingAutotuner.benchmark_all_configs", 5.0, 1.0),
        timed("compile_file", 4.0, 1.0, thread=1, graph=""),
    )

    found = startup(dump)
    assert lanes(found) == {
        DYNAMO: (1.0, 3.0, 2.0),
        BUILDING: (4.0, 5.0, 1.0),
        TUNING: (5.0, 6.0, 1.0),
        FIRST_CALLS: (3.5, 7.5, 3.0),
    }
    assert found is not None
    assert (found.seconds, round(found.elsewhere, 6)) == (7.5, 1.5)
    assert {bar.name for bar in found.bars if bar.lane == FIRST_CALLS} == {"first call, forward"}


def test_torch_gives_the_timers_of_a_capture_these_names() -> None:
    """The installed torch, whose module is imported where there is no GPU, too."""
    from torch._inductor import cudagraph_trees

    timed = set(re.findall(r'dynamo_timed_cudagraph\(\s*"([^"]+)"', inspect.getsource(cudagraph_trees)))
    assert timed
    assert {stage_of(name) for name in timed} == {CAPTURE}
