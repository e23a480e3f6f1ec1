"""On a machine with a CUDA device: what became of functions that were asked to run as CUDA graphs."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.frontend.startup import startup
from inspect_compile.analysis.runtime.cudagraphs import again, cudagraphs, state
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import CudaGraph, Graph, Hook, Remark, Timed
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.frontend.compile_stages import CAPTURE
from tests.private_names import astray

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

PROGRAM = Path(__file__).parent / "programs" / "cudagraphs.py"


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Dump]:
    """What the program printed, and its dump."""
    dump = tmp_path_factory.mktemp("scenes") / "dump"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(dump), str(PROGRAM)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return result.stdout, open_dump(dump)


def of_frame(dump: Dump, frame: int) -> list[CudaGraph]:
    """The functions of one frame's graphs."""
    return [row for row in cudagraphs(Graphs(dump)) if (row.compile_id or "").startswith(f"{frame}/")]


def test_the_program_notices_nothing(scenes: tuple[str, Dump]) -> None:
    printed, dump = scenes
    alone = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=300, check=True)

    assert printed == alone.stdout
    assert "Error" not in printed
    assert astray(dump.rows(Hook)) == {}


def test_each_function_is_of_its_graph(scenes: tuple[str, Dump]) -> None:
    dump = scenes[1]
    graphs: dict[str, Graph] = {graph.graph: graph for graph in dump.graphs()}

    rows = [row for row in cudagraphs(Graphs(dump)) if row.driver == "cudagraph trees"]
    assert rows
    for row in rows:
        assert (row.compile_id, row.mode) == (graphs[row.graph].compile_id, graphs[row.graph].kind)


def test_one_warm_up_one_recording_and_replays(scenes: tuple[str, Dump]) -> None:
    (row,) = of_frame(scenes[1], 0)

    assert (row.warmups, row.recorded, row.replayed) == (1, 1, 4)
    assert [(one.why, one.after, one.replayed) for one in row.recordings] == [("first", None, 4)]
    assert state(row) == "replayed"
    assert (row.pool_bytes or 0) > 0


def test_forward_and_backward(scenes: tuple[str, Dump]) -> None:
    forward, backward = sorted(of_frame(scenes[1], 1), key=lambda row: row.number)

    assert (forward.mode, backward.mode) == ("forward", "backward")
    assert forward.recorded == backward.recorded == 1
    assert forward.replayed == backward.replayed > 0
    assert backward.recordings[0].after == forward.recordings[0].node


def test_new_addresses_of_parameters(scenes: tuple[str, Dump]) -> None:
    dump = scenes[1]
    rows = of_frame(dump, 2)

    (row,) = rows
    (found,) = again(dump, row)
    assert (found.why, found.count, row.recorded) == ("static input data pointer changed", 2, 3)
    assert found.inputs
    remarks = [remark for remark in dump.rows(Remark) if remark.code == "cudagraph-again"]
    assert row.graph in {remark.graph for remark in remarks}


def test_another_path_through_the_tree(scenes: tuple[str, Dump]) -> None:
    rows = [
        row
        for row in cudagraphs(Graphs(scenes[1]))
        if row.number > min(own.number for own in cudagraphs(Graphs(scenes[1])) if own.driver == "inductor")
    ]

    assert "another path" in {found.why for row in rows for found in again(scenes[1], row)}


def test_a_mutated_input(scenes: tuple[str, Dump]) -> None:
    rows = of_frame(scenes[1], 3)

    skipped = [row for row in rows if row.skipped]
    assert skipped
    assert "mutated inputs" in skipped[0].skipped
    assert (skipped[0].where or "").startswith(str(PROGRAM))
    assert all(row.recorded == 0 for row in rows)


def test_sizes(scenes: tuple[str, Dump]) -> None:
    dump = scenes[1]
    rows = of_frame(dump, 4)

    assert sorted(row.sizes for row in rows) == [(size,) for size in range(8, 18)]
    assert {row.graph for row in rows} == {rows[0].graph}
    assert all((row.warmups, row.recorded) == (1, 1) for row in rows)
    assert "cudagraph-sizes" in {remark.code for remark in dump.rows(Remark)}


def test_parts_of_a_graph(scenes: tuple[str, Dump]) -> None:
    rows = of_frame(scenes[1], 5)

    assert sorted((row.partition, row.recorded) for row in rows) == [(0, 1), (1, 1)]
    assert len({row.graph for row in rows}) == 1


def test_other_drivers(scenes: tuple[str, Dump]) -> None:
    rows = {row.driver: row for row in cudagraphs(Graphs(scenes[1]))}

    backend, own, treeless = rows["cudagraphs backend"], rows["program"], rows["inductor"]
    assert (backend.graph, backend.recorded, backend.replayed) == ("", 1, 3)
    assert (own.recorded, own.replayed) == (1, 7)
    assert (own.where or "").startswith(str(PROGRAM))
    assert treeless.graph
    assert treeless.recorded == 1
    assert treeless.replayed >= 4


def test_the_recordings_are_a_lane_of_the_start(scenes: tuple[str, Dump]) -> None:
    """Each recording that the probes of cudagraph trees saw has a timer of torch's, which knows one more."""
    dump = scenes[1]
    recorded = sum(row.recorded for row in cudagraphs(Graphs(dump)) if row.driver == "cudagraph trees")
    found = startup(dump)

    assert found is not None
    assert CAPTURE in {lane.lane for lane in found.lanes}
    assert sum(row.name == "CUDAGraphNode.record" for row in dump.rows(Timed)) - recorded in (0, 1)
    assert recorded
