"""What was seen of the calls of programs on a GPU: their launches' times, and what became of their CUDA graphs."""

import zipfile
from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.analysis.kernels.launch_times import measured, measuring
from inspect_compile.analysis.runtime.cudagraphs import again, cudagraph_rows, cudagraphs, state
from inspect_compile.analysis.runtime.launch_plan import plans
from inspect_compile.analysis.runtime.measured import measured_by, measured_graph
from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tui.models.run.pages import run_page
from tests.conftest import TESTS, Golden

DATA = TESTS / "data" / "h200-calls"
NAMES = sorted(path.stem for path in DATA.glob("*.zip"))


def dump_of(name: str, folder: Path) -> Dump:
    with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
        archive.extractall(folder)
    return open_dump(folder)


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    return dump_of("cudagraphs", tmp_path_factory.mktemp("cudagraphs"))


@pytest.mark.parametrize("name", ["measured", "reduce_overhead"])
def test_each_launch_of_the_plan_was_timed(name: str, tmp_path: Path) -> None:
    dump = dump_of(name, tmp_path)

    (plan,) = plans(dump)
    found = measured_graph(CompiledGraph(dump, plan.graph))
    assert found is not None
    assert [row.line for row in found.launches] == [step.launch.line for step in plan.steps]
    assert {row.calls for row in found.launches} == {7}
    assert all((row.milliseconds or 0) >= (row.least or 0) > 0 for row in found.launches)
    assert sum(row.share or 0 for row in found.launches) == pytest.approx(1)
    assert set(measured(Graphs(dump))) == {(row.graph, row.what[0], row.line) for row in found.launches}
    assert found.call is None  # the host runs ahead
    (own,) = measuring(dump)
    assert (own.device, own.how) == ("cuda:0", "CUDA events")
    (hook,) = disabled(dump)
    assert hook.target == "torch._dynamo.convert_frame.add_skip_reason"  # of 2.13 on
    for by in ("kernel", "line", "module", "op"):
        rows = measured_by(CompiledGraph(dump, plan.graph), by)
        assert sum(row.milliseconds or 0 for row in rows) == pytest.approx(found.milliseconds)


def test_launches_of_a_cuda_graph_are_timed_in_its_replays(tmp_path: Path) -> None:
    dump = dump_of("reduce_overhead", tmp_path)

    (plan,) = plans(dump)
    found = measured_graph(CompiledGraph(dump, plan.graph))
    assert found is not None
    assert {row.replayed for row in found.launches} == {6}
    (replay,) = found.replays
    assert (replay.calls, replay.timed) == (6, 5)
    assert found.milliseconds < (replay.milliseconds or 0) < 1.1 * found.milliseconds
    assert [(row.recorded, row.replayed) for row in cudagraphs(Graphs(dump))] == [(1, 5)]


def test_each_function_is_of_its_graph(scenes: Dump) -> None:
    graphs = {graph.graph: graph for graph in scenes.graphs()}

    rows = [row for row in cudagraphs(Graphs(scenes)) if row.driver == "cudagraph trees"]
    assert len({row.graph for row in rows}) >= 8
    for row in rows:
        assert (row.compile_id, row.mode) == (graphs[row.graph].compile_id, graphs[row.graph].kind)
    assert {"forward", "backward", "inference"} == {row.mode for row in rows}


def test_all_that_can_become_of_a_function(scenes: Dump) -> None:
    rows = cudagraphs(Graphs(scenes))

    assert {"replayed", "skipped"} <= {state(row) for row in rows}
    assert {"cudagraph trees", "cudagraphs backend", "inductor", "program"} == {row.driver for row in rows}
    reasons = {found.why: found for row in rows for found in again(scenes, row)}
    assert set(reasons) == {"static input data pointer changed", "another path"}
    moved = reasons["static input data pointer changed"]
    assert moved.inputs
    assert (moved.where or "").partition(":")[0].endswith("cudagraphs.py")  # where the parameter is read
    (skipped,) = (row for row in rows if row.skipped)
    assert "mutated inputs" in skipped.skipped
    assert (skipped.where or "").partition(":")[0].endswith("cudagraphs.py")
    sizes = [row for row in rows if row.sizes and row.mode == "inference"]
    assert len(sizes) >= 9
    assert len({row.graph for row in sizes}) == 1
    (forward,) = (row for row in rows if row.mode == "forward")
    (backward,) = (row for row in rows if row.mode == "backward")
    assert backward.recordings[0].after == forward.recordings[0].node
    (own,) = (row for row in rows if row.driver == "program")
    assert (own.recorded, own.replayed) == (1, 7)


def test_the_rows_are_those_of_the_facts(scenes: Dump) -> None:
    facts, rows = cudagraphs(Graphs(scenes)), cudagraph_rows(Graphs(scenes))

    assert [(row.graph, row.number, row.recorded, row.replayed, row.skipped) for row in rows] == [
        (fact.graph, fact.number, fact.recorded, fact.replayed, fact.skipped) for fact in facts
    ]
    for row, fact in zip(rows, facts, strict=True):
        again = [one.why for one in fact.recordings if one.why != "first"]
        assert sum(one.count for one in row.again) == len(again) == row.recorded - bool(row.recorded) - row.unlisted
        assert {one.why for one in row.again} == {*again}
    parts: dict[str, set[int]] = {}
    for fact in facts:
        if fact.partition is not None:
            parts.setdefault(fact.graph, set()).add(fact.partition)
    (cut,) = (graph for graph, found in parts.items() if len(found) > 1)
    assert {row.partition for row in rows if row.graph == cut} == parts[cut]
    assert {row.partition for row in rows if row.graph != cut} == {None}


@pytest.mark.parametrize(("name", "table"), [("cudagraphs", "cudagraphs"), ("measured", "measured")])
def test_the_table(
    name: str,
    table: str,
    tmp_path: Path,
    golden: Golden,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dump_of(name, tmp_path / "dump")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    assert main(["show", "dump", table]) == 0
    golden.check(capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_says_it(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dump_of(name, tmp_path / "dump")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    assert main(["show", "dump", "summary"]) == 0
    told = capsys.readouterr().out
    assert ("CUDA graphs: recorded" in told) == (name != "measured")
    assert (" measured " in told) == (name != "cudagraphs")
    page = run_page(open_dump(Path("dump")), has_program=False)
    titles = {span.text for line in page for span in line.spans if span.role == "title"}
    assert ("CUDA graphs" in titles, "Measured" in titles) == (name != "measured", name != "cudagraphs")
