"""A dump of torch's own debug folder has the rows of the dump that was recorded of the same program."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.errors import DumpError
from inspect_compile.facts import Fact, Graph, GraphEnd, Kernel, MemoryPlan, Node, Operation, WrapperLine
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.origins import DEBUG_FOLDER, note
from inspect_compile.origins.debug_folder import is_debug_folder, read_debug_folder
from inspect_compile.tables import TABLES
from tests.conftest import SAMPLES, DumpOf, run_once
from tests.running import run

DebugOf = Callable[[str], Path]

_OF_LINE = (
    "graph", "what", "buffer", "becomes", "bytes", "kernel", "arguments", "delete_old", "is_reused", "is_planned",
    "device", "text", "torch_type",
)  # fmt: skip
_OF_KERNEL = ("graph", "name", "kind", "form", "device", "operations", "groups", "source", "inplace")
_OF_OPERATION = (
    "phase", "order", "name", "kind", "node_type", "ir_type", "device", "members", "buffers", "numel", "rnumel",
    "reads", "writes", "users", "predecessors", "extern_kernel",
)  # fmt: skip
_OF_NODE = ("stage", "index", "name", "op", "target", "inputs", "arguments")
_SAMPLED = ["softmax_mlp", "training_step", "attention_block", "conv_bias"]


@pytest.fixture(scope="session")
def debug_of(shared_folder: Path) -> DebugOf:
    """`debug_of("softmax_mlp")`: the folder that torch alone writes of that sample, once a session."""
    switches = {"TORCH_COMPILE_DEBUG": "1", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}

    def debug_of(sample: str) -> Path:
        folder = shared_folder / "debug" / sample
        # The folder is one of the process, and its place is decided when torch is imported.
        words: list[str | Path] = [sys.executable, SAMPLES / f"{sample}.py"]
        variables = {**switches, "TORCH_COMPILE_DEBUG_DIR": str(folder)}
        done = run_once(folder, lambda folder: run(words, folder, environment=variables))
        assert done.returncode == 0, done.stderr
        return folder / paths.BASE

    return debug_of


def fields(fact: Fact, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in names}


def lines(dump: Dump, graph: str) -> list[dict[str, Any]]:
    rows = dump.rows(WrapperLine, graph)
    return [fields(row, _OF_LINE) for row in rows if row.line is not None and row.what != "comment"]


@pytest.mark.parametrize("sample", _SAMPLED)
def test_its_rows_are_those_that_were_recorded(sample: str, debug_of: DebugOf, dump_of: DumpOf, tmp_path: Path) -> None:
    read_debug_folder(debug_of(sample), tmp_path / "dump")
    read, recorded = open_dump(tmp_path / "dump"), Dump(dump_of(sample).dump)
    assert [graph.graph for graph in read.outermost()] == [graph.graph for graph in recorded.outermost()]
    for graph in (graph.graph for graph in read.outermost()):
        assert lines(read, graph) == lines(recorded, graph)
        assert [fields(row, _OF_KERNEL) for row in read.rows(Kernel, graph)] == [
            fields(row, _OF_KERNEL) for row in recorded.rows(Kernel, graph)
        ]
        assert [fields(row, _OF_OPERATION) for row in read.rows(Operation, graph)] == [
            fields(row, _OF_OPERATION) for row in recorded.rows(Operation, graph)
        ]
        assert [fields(row, _OF_NODE) for row in read.rows(Node, graph)] == [
            fields(row, _OF_NODE) for row in recorded.rows(Node, graph)
        ]
        assert [(plan.inputs, plan.outputs) for plan in read.rows(MemoryPlan, graph)] == [
            (plan.inputs, plan.outputs) for plan in recorded.rows(MemoryPlan, graph)
        ]


def test_kernels_have_their_nodes_and_lines_where_torch_wrote_which(
    debug_of: DebugOf, dump_of: DumpOf, tmp_path: Path
) -> None:
    read_debug_folder(debug_of("attention_block"), tmp_path / "dump")
    read, recorded = open_dump(tmp_path / "dump"), Dump(dump_of("attention_block").dump)
    told = [(kernel.name, kernel.nodes, [line.line for line in kernel.lines]) for kernel in recorded.rows(Kernel)]
    assert [(kernel.name, kernel.nodes, [line.line for line in kernel.lines]) for kernel in read.rows(Kernel)] == told
    groups = {row.name: row.nodes for row in recorded.rows(Operation) if row.phase == "post_fusion"}
    known = {row.name: row.nodes for row in read.rows(Operation) if row.phase == "post_fusion" and row.nodes}
    assert known
    assert known == {name: groups[name] for name in known}


def test_its_memory_is_that_of_the_recorded_dump(debug_of: DebugOf, dump_of: DumpOf, tmp_path: Path) -> None:
    read_debug_folder(debug_of("attention_block"), tmp_path / "dump")
    peaks = [
        [(graph.name, graph.memory.peak) for graph in Graphs(dump)]
        for dump in (open_dump(tmp_path / "dump"), Dump(dump_of("attention_block").dump))
    ]
    assert peaks[0] == peaks[1]
    assert peaks[0][0][1]


def test_the_schedule_that_torch_left_is_of_the_nested_graph_that_it_names(
    debug_of: DebugOf, dump_of: DumpOf, tmp_path: Path
) -> None:
    read_debug_folder(debug_of("conditional"), tmp_path / "dump")
    read, recorded = open_dump(tmp_path / "dump"), Dump(dump_of("conditional").dump)
    [nested] = {row.graph for row in read.rows(Operation)}
    assert nested == "model__0_inference_0.0/false_graph_0"
    assert [(row.phase, row.name) for row in read.rows(Operation)] == [
        (row.phase, row.name) for row in recorded.rows(Operation) if row.graph == nested
    ]
    assert [(graph.graph, graph.parent) for graph in read.graphs()] == [
        (graph.graph, graph.parent) for graph in recorded.graphs()
    ]
    assert [fields(row, _OF_KERNEL[:5]) for row in read.rows(Kernel)] == [
        fields(row, _OF_KERNEL[:5]) for row in recorded.rows(Kernel)
    ]


def test_it_says_what_it_is_and_has_the_files_of_torch(debug_of: DebugOf, tmp_path: Path) -> None:
    folder = debug_of("softmax_mlp")
    read_debug_folder(folder, tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    assert dump.run.origin == DEBUG_FOLDER
    assert dump.run.notes == (note(DEBUG_FOLDER),)
    assert dump.run.versions["torch"].startswith("2.")
    [graph], [end] = dump.rows(Graph), dump.rows(GraphEnd)
    assert (graph.kind, graph.name, graph.inputs, graph.device) == ("inference", "model__0_inference_0", 5, "cpu")
    assert (graph.compile_id, end.status) == (None, "compiled")
    [written] = folder.glob(f"run_*/torchinductor/{graph.graph}")
    for name in (paths.FX_READABLE, paths.IR_POST_FUSION, "output_code.py"):
        assert (dump.folder(graph.graph) / name).read_text() == (written / name).read_text()


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(table: str, debug_of: DebugOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_debug_folder(debug_of("training_step"), tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_any_of_its_folders_will_do(debug_of: DebugOf, tmp_path: Path) -> None:
    folder = debug_of("softmax_mlp")
    [graph] = folder.glob("run_*/torchinductor/*/")
    for number, path in enumerate((folder, graph.parents[1], graph.parent, graph)):
        assert is_debug_folder(path)
        read_debug_folder(path, tmp_path / str(number))
        assert [kernel.name for kernel in open_dump(tmp_path / str(number)).rows(Kernel)][:1] == ["cpp_fused_relu_0"]


def test_runs_are_parts_of_one_dump(debug_of: DebugOf, tmp_path: Path) -> None:
    together = tmp_path / paths.BASE
    together.mkdir()
    for sample in ("softmax_mlp", "conv_bias"):
        [run_folder] = debug_of(sample).glob("run_*")
        (together / run_folder.name).symlink_to(run_folder)
    assert not is_debug_folder(together)  # what links lead to is not in it
    for link in list(together.iterdir()):
        target = link.resolve()
        link.unlink()
        copied(target, link)
    read_debug_folder(together, tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    assert dump.run.status == "ranks"
    assert len(dump.other_processes) == 2


def copied(folder: Path, to: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            (to / path.relative_to(folder)).parent.mkdir(parents=True, exist_ok=True)
            (to / path.relative_to(folder)).write_bytes(path.read_bytes())


def graph_folder(root: Path) -> Path:
    folder = root / "run_2026_01_01_00_00_00_000000-pid_7" / "torchinductor" / "model__0_inference_0.0"
    folder.mkdir(parents=True)
    return folder


def test_what_is_no_such_folder_is_refused(dump_of: DumpOf, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere", dump_of("softmax_mlp").dump, Path(__file__)):
        assert not is_debug_folder(path)
        with pytest.raises(DumpError, match="holds no graph"):
            read_debug_folder(path, tmp_path / "dump")
    assert not (tmp_path / "dump").exists()


def test_torn_files_are_read_as_far_as_they_go(debug_of: DebugOf, tmp_path: Path) -> None:
    [graph] = debug_of("softmax_mlp").glob("run_*/torchinductor/*/")
    folder = graph_folder(tmp_path / "torn")
    for file in graph.iterdir():
        data = file.read_bytes()
        (folder / file.name).write_bytes(data[: len(data) // 2] + b"\xff\x00")
    read_debug_folder(tmp_path / "torn", tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    assert [note for note in dump.run.notes if "is not read: line" in note]
    assert dump.rows(Node)
    assert dump.rows(Operation)
    assert not dump.rows(Kernel)


def test_a_link_out_of_the_folder_is_not_followed(debug_of: DebugOf, tmp_path: Path) -> None:
    [graph] = debug_of("softmax_mlp").glob("run_*/torchinductor/*/")
    folder = graph_folder(tmp_path / "links")
    (folder / "output_code.py").symlink_to(graph / "output_code.py")
    (folder / paths.IR_POST_FUSION).write_text("", encoding="utf-8")
    (folder.parent / "model__0_inference_0.1").symlink_to(graph)
    read_debug_folder(tmp_path / "links", tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    assert [found.graph for found in dump.rows(Graph)] == ["model__0_inference_0.0"]
    assert not dump.rows(Kernel)
    assert not (dump.folder("model__0_inference_0.0") / "output_code.py").exists()


def test_nothing_in_it_is_run(tmp_path: Path) -> None:
    folder, made = graph_folder(tmp_path / "wild"), tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')\n"
    for name in ("output_code.py", paths.FX_READABLE, paths.FX_TRANSFORMED, paths.FX_RUNNABLE, paths.IR_POST_FUSION):
        (folder / name).write_text(write, encoding="utf-8")
    (folder / paths.PROVENANCE).write_text('{"cppCodeToPost": [1, {"a": ' + "[" * 100_000, encoding="utf-8")
    read_debug_folder(tmp_path / "wild", tmp_path / "dump")
    assert open_dump(tmp_path / "dump").rows(Graph)
    assert not made.exists()
