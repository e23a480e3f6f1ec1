"""The writer of a watched process: when it begins, what it refuses, what it counts."""

from pathlib import Path

import pytest

from inspect_compile.child.recorder import Recorder
from inspect_compile.child.run_config import RunConfig
from inspect_compile.facts import Frame, Graph, GraphEnd, Kernel, Node


class Begun:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


@pytest.fixture
def begun() -> Begun:
    return Begun()


def node(graph: str) -> Node:
    return Node(graph=graph, stage="aot", index=0, name="add", op="call_function", target="aten.add")


def test_it_begins_with_the_first_thing_that_is_written(tmp_path: Path, begun: Begun) -> None:
    recorder = Recorder(tmp_path, first=begun)
    recorder.flush()
    assert (begun.count, list(tmp_path.iterdir())) == (0, [])
    recorder.add(node("g.0"))
    recorder.flush()
    recorder.text("torchinductor/g.0/a.txt", "x")
    assert begun.count == 1
    assert sorted(path.name for path in (tmp_path / "torchinductor" / "g.0").iterdir()) == ["a.txt", "nodes.jsonl"]


def test_closed_it_takes_nothing(tmp_path: Path, begun: Begun) -> None:
    recorder = Recorder(tmp_path, first=begun)
    recorder.add(node("g.0"))
    recorder.close()
    recorder.add(node("g.0"))
    recorder.text("late.txt", "x")
    recorder.flush()
    assert (tmp_path / "torchinductor" / "g.0" / "nodes.jsonl").read_text().count("\n") == 1
    assert not (tmp_path / "late.txt").exists()


def test_later_graphs_are_refused_whole(tmp_path: Path, begun: Begun) -> None:
    recorder = Recorder(tmp_path, first=begun, config=RunConfig(graphs=1))
    for graph in ("g.0", "g.0/true_graph_0", "h.1"):
        recorder.add(Graph(graph=graph, kind="forward"))
        recorder.add(node(graph))
        recorder.text(f"torchinductor/{graph.split('/')[0]}/output_code.py", graph)
        recorder.add(GraphEnd(graph=graph, status="compiled", seconds=0.0))
    recorder.add(Frame(graph="1/0", function="f", file="f.py", line=1, status="compiled"))
    recorder.flush()
    assert (tmp_path / "graphs.jsonl").read_text().count("\n") == 4
    assert [path.name for path in (tmp_path / "torchinductor").iterdir()] == ["g.0"]
    assert (tmp_path / "dynamo.jsonl").exists()
    assert [(left.what, left.limit, left.count) for left in recorder.omissions()] == [("graphs", "--graphs 1", 1)]
    assert recorder.tally.graphs == 1


def test_reopened_it_starts_anew(tmp_path: Path, begun: Begun) -> None:
    recorder = Recorder(tmp_path / "a", first=begun)
    recorder.add(node("g.0"))
    recorder.reopen(tmp_path / "b")
    recorder.add(Kernel(graph="g.0", name="k", kind="cpp", device="cpu"))
    recorder.close()
    assert not (tmp_path / "a").exists()
    assert [path.name for path in (tmp_path / "b" / "torchinductor" / "g.0").iterdir()] == ["kernels.jsonl"]
    assert (begun.count, recorder.tally.kernels) == (1, 1)


def test_the_tally_remembers_why_a_compile_failed(tmp_path: Path, begun: Begun) -> None:
    recorder = Recorder(tmp_path, first=begun)
    recorder.add(GraphEnd(graph="g.0", status="failed", seconds=0.0, exception="E: inner"))
    recorder.add(Frame(function="f", file="f.py", line=1, status="failed", reason="Outer: E: inner"))
    assert recorder.tally.failure == "E: inner"
