"""The overview that a dump keeps: it is what its tables tell, or it is not taken."""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

import inspect_compile
from inspect_compile.analysis.findings.computed import computed
from inspect_compile.analysis.findings.kept import findings_of, kept, overview_of, summaries_of, to_keep
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Run
from inspect_compile.finish import finish
from inspect_compile.graph import Graphs
from tests.conftest import TESTS, DumpOf
from tests.handmade import ended, graph, made

DATA = TESTS / "data"
RECORDED = [DATA / "tui" / "mixed", *(DATA / "h200-torch-2.11" / name for name in ("softmax_mlp", "tuned"))]
GRAPH_TABLE = "torchinductor/model__0_forward_1.0/nodes.jsonl"


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A copy of a recorded dump, with its derived files."""
    root = tmp_path / "dump"
    shutil.copytree(RECORDED[0], root)
    finish(Dump(root))
    return root


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.name)
def test_it_is_what_the_tables_tell(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded, tmp_path / "dump")
    finish(Dump(tmp_path / "dump"))

    found = kept(Dump(tmp_path / "dump"))

    assert found is not None
    assert found == computed(Graphs(Dump(tmp_path / "dump")))


@pytest.mark.parametrize("sample", ["training_step", "graph_breaks", "two_models"])
def test_a_run_leaves_it(dump_of: DumpOf, sample: str) -> None:
    root = dump_of(sample).dump

    found = kept(Dump(root))

    assert found is not None
    assert msgspec.to_builtins(found) == msgspec.to_builtins(computed(Graphs(Dump(root))))


def test_no_table_of_a_graph_is_read_for_it(finished: Path) -> None:
    dump = Dump(finished)
    for table in (finished / paths.GRAPHS).rglob("*.jsonl"):
        assert table.stat().st_size
    before = computed(Graphs(Dump(finished)))

    assert overview_of(Graphs(dump)) == before
    assert findings_of(Graphs(dump)) == before.findings
    assert summaries_of(dump, list(Graphs(dump))) == before.graphs
    assert not [name for _, name in dump._tables if paths.GRAPHS in name]


def test_it_goes_with_a_copy(finished: Path, tmp_path: Path) -> None:
    """Times of files play no part: they do not survive most ways of copying."""
    shutil.copytree(finished, tmp_path / "copy", copy_function=shutil.copyfile)

    assert kept(Dump(tmp_path / "copy")) == kept(Dump(finished)) is not None


def _grown(root: Path) -> None:
    table = root / GRAPH_TABLE
    table.write_bytes(table.read_bytes() + table.read_bytes().splitlines(keepends=True)[0])


def _torn(root: Path) -> None:
    table = root / GRAPH_TABLE
    table.write_bytes(table.read_bytes()[:-20])


def _edited(root: Path) -> None:
    table = root / GRAPH_TABLE
    before = table.read_bytes()
    table.write_bytes(before.replace(b'"relu', b'"gelu'))
    assert table.stat().st_size == len(before)
    assert table.read_bytes() != before


def _lacking(root: Path) -> None:
    (root / GRAPH_TABLE).unlink()


def _replayed(root: Path) -> None:
    made(root / paths.replay_folder(1), graph(), run=Run(status="finished", replay_of="model__0_forward_1.0"))


def _another_run(root: Path) -> None:
    run = Dump(root).run
    (root / paths.RUN).write_bytes(msgspec.json.encode(msgspec.structs.replace(run, notes=("something",))))


def _garbage(root: Path) -> None:
    (root / paths.OVERVIEW).write_bytes(b"\x00{")


def _another_type(root: Path) -> None:
    text = (root / paths.OVERVIEW).read_text().replace('"graphs":', '"graphs":"many","others":', 1)
    (root / paths.OVERVIEW).write_text(text)


def _link_out(root: Path) -> None:
    shutil.move(root / paths.OVERVIEW, root.parent / "elsewhere.json")
    (root / paths.OVERVIEW).symlink_to(root.parent / "elsewhere.json")


@pytest.mark.parametrize(
    "change",
    [_grown, _torn, _edited, _lacking, _replayed, _another_run, _garbage, _another_type, _link_out],
    ids=lambda change: change.__name__,
)
def test_it_is_not_taken_for_anything_else(finished: Path, change: Callable[[Path], None]) -> None:
    assert kept(Dump(finished)) is not None

    change(finished)

    assert kept(Dump(finished)) is None
    assert overview_of(Graphs(Dump(finished))) == computed(Graphs(Dump(finished)))


def test_another_version_makes_its_own(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect_compile, "__version__", "0.0.9")

    assert kept(Dump(finished)) is None

    finish(Dump(finished))
    assert kept(Dump(finished)) is not None


def test_figures_of_the_cpu_count(finished: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Times are estimated by them."""
    from inspect_compile.knowledge.targets.host import Host, cpu_name, keep

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    keep(Host(cpu_name(), 2, "2026-01-01", "2.13", 1e10, {"float32": 1e11}))

    assert kept(Dump(finished)) is None
    assert overview_of(Graphs(Dump(finished))) == computed(Graphs(Dump(finished)))
    assert {row.sure for row in overview_of(Graphs(Dump(finished))).lines} == {"estimated"}


@pytest.mark.parametrize("status", ["running", "ranks"])
def test_none_while_there_may_be_more(tmp_path: Path, status: str) -> None:
    dump = made(tmp_path / "dump", graph(), ended(), run=Run(status=status, pid=1))

    assert to_keep(dump) is None


def test_none_of_a_dump_with_lines_that_cannot_be_read(tmp_path: Path) -> None:
    dump = made(tmp_path / "dump", graph(), ended())
    with open(tmp_path / "dump" / "graphs.jsonl", "ab") as file:
        file.write(b"{]\n")

    assert to_keep(Dump(dump.root)) is None


def test_one_graph_is_computed(finished: Path) -> None:
    name = Dump(finished).outermost()[0].graph

    assert [row.graph for row in overview_of(Graphs(Dump(finished), name)).graphs] == [name]
    assert findings_of(Graphs(Dump(finished), name)) == computed(Graphs(Dump(finished), name)).findings


def test_a_table_of_graphs_is_the_same_without_it(finished: Path) -> None:
    graphs = list(Graphs(Dump(finished)))[1:]
    expected = summaries_of(Dump(finished), graphs)

    (finished / paths.OVERVIEW).unlink()

    assert [row.graph for row in expected] == [graph.name for graph in graphs] != []
    assert summaries_of(Dump(finished), graphs) == expected
