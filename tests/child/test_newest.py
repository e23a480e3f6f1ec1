"""A dump that keeps the newest recompiles: what goes, what stays, and what is said."""

from pathlib import Path

import pytest

from inspect_compile.child.recorder import Recorder
from inspect_compile.child.run_config import RunConfig
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import (
    CacheLookup,
    Frame,
    Graph,
    GraphEnd,
    Guard,
    KeyMember,
    KeyPart,
    Node,
    Recompile,
    Run,
    Timed,
)


def recorder(root: Path, keep: int, max_bytes: int | None = None) -> Recorder:
    def first() -> None:
        Writer(root).run(Run())

    def limited() -> None:
        Writer(root).run(Run(omitted=made.omissions()))

    made = Recorder(root, first=first, limited=limited, config=RunConfig(keep=keep, max_bytes=max_bytes))
    return made


def compiled(into: Recorder, number: int, *, frame: int = 0, size: int = 10) -> None:
    """One compile of a frame with a graph whose file has so many bytes, as a process records it."""
    name, graph = f"{frame}/{number}", f"model__{frame}{number}_forward_{number}.0"
    if number:
        into.add(Recompile(graph=name, function="f", file="f.py", line=1, reasons=(f"{frame}/0: n == {number}",)))
    into.add(Graph(graph=graph, kind="forward", compile_id=name))
    into.add(Graph(graph=f"{graph}/body_0", kind="forward", compile_id=name))
    into.add(Node(graph=graph, stage="aot", index=0, name="add", op="call_function", target="aten.add"))
    into.text(f"torchinductor/{graph}/output_code.py", "#" * size)
    into.add(GraphEnd(graph=graph, status="compiled", seconds=0.0))
    into.add(Timed(graph=name, name="compile", start=float(number), seconds=1.0))
    into.add(Timed(graph="", name="worker", start=float(number), seconds=1.0))
    into.add(Guard(graph=f"{name}_1", kind="k", source="s"))
    into.add(
        CacheLookup(graph=name, cache="fx_graph", outcome="miss", components={"gm": f"sum{number}", "all": "same"})
    )
    into.add(KeyPart(name="gm", checksum=f"sum{number}", members={"": KeyMember("x", f"{number}")}))
    into.add(Frame(graph=name, function="f", file="f.py", line=1, status="compiled"))


def test_the_newest_stay_beside_the_first(tmp_path: Path) -> None:
    into = recorder(tmp_path, keep=2)
    into.add(KeyPart(name="all", checksum="same"))
    for number in range(6):
        compiled(into, number)
    into.close()
    dump = Dump(tmp_path)
    for kind in (Frame, Timed):
        assert {row.graph for row in dump.rows(kind)} - {""} == {"0/0", "0/4", "0/5"}
    assert [row.graph for row in dump.rows(Recompile)] == ["0/4", "0/5"]
    assert [row.graph for row in dump.rows(Guard)] == ["0/0_1", "0/4_1", "0/5_1"]
    assert [row.start for row in dump.rows(Timed) if not row.graph] == [0.0, 4.0, 5.0]
    assert {row.checksum for row in dump.rows(KeyPart)} == {"same", "sum0", "sum4", "sum5"}
    assert {graph.graph.partition("_forward")[0] for graph in dump.graphs()} == {"model__00", "model__04", "model__05"}
    assert len(dump.graphs()) == 6
    assert {path.name for path in (tmp_path / "torchinductor").iterdir()} == {one.graph for one in dump.outermost()}
    (omission,) = dump.run.omitted
    assert (omission.what, omission.limit, omission.count) == ("compiles", "--keep 2", 3)
    assert omission.message == "--keep 2: the newest 2 of 5 recompiles are kept; earlier ones were dropped"
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_recompiles_of_all_frames_count_together(tmp_path: Path) -> None:
    into = recorder(tmp_path, keep=2)
    for number in range(3):
        for frame in range(2):
            compiled(into, number, frame=frame)
    into.close()
    assert [row.graph for row in Dump(tmp_path).rows(Frame)] == ["0/0", "1/0", "0/2", "1/2"]


def test_the_oldest_go_where_the_size_is_reached(tmp_path: Path) -> None:
    into = recorder(tmp_path, keep=100, max_bytes=100_000)
    for number in range(20):
        compiled(into, number, size=20_000)
        assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) < 101_000
    for frame in range(1, 9):
        compiled(into, 0, frame=frame, size=20_000)
    into.close()
    dump = Dump(tmp_path)
    left = [row.graph for row in dump.rows(Frame)]
    assert left == ["0/19", "6/0", "7/0", "8/0"]
    assert not into.is_full
    compiles, frames = dump.run.omitted
    assert (compiles.what, frames.what) == ("compiles", "frames")
    assert compiles.message.startswith("--keep 100, --max-dump 97.66kB: the newest ")
    assert "the first compile of" in frames.message


def test_what_comes_late_of_a_dropped_compile_is_left_out(tmp_path: Path) -> None:
    """A backward may be compiled long after its forward."""
    into = recorder(tmp_path, keep=1)
    for number in range(3):
        compiled(into, number)
    into.add(Graph(graph="model__01_backward_9.9", kind="backward", compile_id="0/1"))
    into.add(Guard(graph="0/1", kind="k", source="s"))
    into.text("torchinductor/model__01_forward_1.0/late.txt", "x")
    into.close()
    dump = Dump(tmp_path)
    assert {graph.compile_id for graph in dump.graphs()} == {"0/0", "0/2"}
    assert {row.graph for row in dump.rows(Guard)} == {"0/0_1", "0/2_1"}
    assert not (tmp_path / "torchinductor" / "model__01_forward_1.0").exists()


@pytest.mark.parametrize("read_between", [1, 3])
def test_a_reader_that_follows_sees_what_is_there(tmp_path: Path, read_between: int) -> None:
    into = recorder(tmp_path, keep=2)
    compiled(into, 0)
    into.flush()
    follower = Dump(tmp_path)
    assert [row.graph for row in follower.rows(Frame)] == ["0/0"]
    for number in range(1, 9):
        compiled(into, number)
        into.flush()
        if number % read_between == 0:
            assert follower.refresh()
            anew = Dump(tmp_path)
            for kind in (Frame, Recompile, Graph, Timed, Guard):
                assert follower.rows(kind) == anew.rows(kind)
            assert follower.graphs() == anew.graphs()


def test_a_fork_starts_without_what_its_parent_had(tmp_path: Path) -> None:
    into = recorder(tmp_path / "a", keep=1)
    for number in range(3):
        compiled(into, number)
    into.reopen(tmp_path / "b")
    compiled(into, 1)
    into.close()
    assert [row.graph for row in Dump(tmp_path / "b").rows(Frame)] == ["0/1"]
    assert into.omissions() == ()
