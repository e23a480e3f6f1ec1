"""What torch decides after it has stored a compile is kept, too; what cannot be kept is told, and nothing fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspect_compile.dump import Dump, Writer, paths
from inspect_compile.facts import Binary, Chosen, Graph, GraphEnd, Node, Remark, Tuning
from inspect_compile.kept.store import Store
from inspect_compile.lowering.caches.dynamo_graph import DynamoGraph
from inspect_compile.lowering.caches.keeping import Keeping, Load
from inspect_compile.lowering.core.undecided import UNDECIDED
from inspect_compile.probe import Probes
from tests.kept.entries import CONTENT, KEY, VERSIONS

GRAPH = "model__0_inference_0.0"
FOLDER = paths.graph_folder(GRAPH)
KERNEL = "triton_poi_fused_relu_0"


class Run:
    """A compile of one graph that is recorded, and stored by torch."""

    def __init__(self, folder: Path, kept: Path) -> None:
        folder.mkdir()
        self.probes = Probes(Writer(folder))
        self.keeping = Keeping()
        self.store = Store(kept, VERSIONS, 1 << 20)

    def compiles(self) -> None:
        sink = self.probes.sink
        self.keeping.begin(self.probes, Load("0/0", 0, DynamoGraph((), ()), (), key=KEY))
        sink.add(Graph(graph=GRAPH, kind="inference", compile_id="0/0"))
        sink.add(Node(graph=GRAPH, stage="aot", index=0, name="relu", op="call_function", target="aten.relu"))
        sink.file(f"{FOLDER}/output_code.py", b"code")
        sink.add(GraphEnd(graph=GRAPH, status="compiled", seconds=1.0))
        self.keeping.stored(self.probes, self.store, KEY, CONTENT)

    def tunes(self) -> None:
        """The first launch of its kernel."""
        sink = self.probes.sink
        sink.add(Tuning(graph=GRAPH, number=0, about="kernel", name=KERNEL))
        sink.add(Chosen(graph=GRAPH, tuning=0, label="XBLOCK8-w4-s1", by="time"))
        sink.add(Binary(graph=GRAPH, kernel=KERNEL, label="XBLOCK8-w4-s1"))
        sink.file(f"{FOLDER}/kernels/{KERNEL}/XBLOCK8-w4-s1/{KERNEL}.ttir", b"module {}")
        sink.flush()
        UNDECIDED.decided(GRAPH, KERNEL)

    def files(self) -> set[str]:
        """Names of the files that are kept."""
        entry = self.store.read(KEY, CONTENT)
        assert entry is not None
        return {name.rpartition("/")[2] for name, _ in entry.files}

    def waits(self) -> tuple[str, ...]:
        entry = self.store.read(KEY, CONTENT)
        assert entry is not None
        return entry.waits


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    yield Run(tmp_path / "dump", tmp_path / "kept")
    UNDECIDED.listeners.pop()
    UNDECIDED.decided(GRAPH, KERNEL)


AT_ONCE = {"graphs.jsonl", "nodes.jsonl", "output_code.py"}
LATER = {"autotuning.jsonl", "binaries.jsonl", f"{KERNEL}.ttir"}


def test_a_compile_of_which_nothing_comes_later(run: Run) -> None:
    run.compiles()

    assert (run.files(), run.waits()) == (AT_ONCE, ())
    assert run.keeping.at_end() == []


def test_what_is_chosen_at_the_first_launch(run: Run) -> None:
    UNDECIDED.add(GRAPH, KERNEL)
    run.compiles()
    assert (run.files(), run.waits()) == (AT_ONCE, (KERNEL,))

    run.tunes()

    assert (run.files(), run.waits()) == (AT_ONCE | LATER, ())


def test_of_several_kernels_the_last_one_counts(run: Run) -> None:
    UNDECIDED.add(GRAPH, KERNEL)
    UNDECIDED.add(GRAPH, "triton_red_fused_sum_1")
    run.compiles()

    run.tunes()
    assert run.waits() == (KERNEL, "triton_red_fused_sum_1")

    UNDECIDED.decided(GRAPH, "triton_red_fused_sum_1")
    assert (run.files(), run.waits()) == (AT_ONCE | LATER, ())


def test_what_is_never_launched_ends_with_the_dump(run: Run) -> None:
    """A run that is killed before leaves an entry that is not used."""
    UNDECIDED.add(GRAPH, KERNEL)
    run.compiles()
    assert run.waits() == (KERNEL,)

    assert run.keeping.at_end() == []

    assert (run.files(), run.waits()) == (AT_ONCE, ())


def test_what_cannot_be_kept_is_told_once(run: Run, tmp_path: Path) -> None:
    """No probe has failed: the compile is recorded as any other."""
    (tmp_path / "kept").write_text("a file")
    run.compiles()
    run.compiles()
    run.probes.sink.flush()

    (told,) = Dump(tmp_path / "dump").rows(Remark)
    assert told.code == "facts-not-kept"
    assert told.message == (
        f"the recording could not be kept below {tmp_path / 'kept'}: File exists; the next run compiles it again"
    )


def test_an_entry_that_goes_before_it_is_complete(run: Run, tmp_path: Path) -> None:
    """Another process has removed it, or damaged it: nothing is kept, nothing fails."""
    UNDECIDED.add(GRAPH, KERNEL)
    run.compiles()
    (path,) = (tmp_path / "kept").rglob("*.kept")
    path.write_bytes(path.read_bytes()[:-5])

    run.tunes()

    assert path.exists()
    assert run.keeping.at_end() == []
