"""Files that run a graph again, and what torch's minifier leaves: read, and never run."""

from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.facts import Artifact, Graph, Kernel, Node, OriginRecords, Symbol
from inspect_compile.knowledge.origins import MINIFIER, RUNNABLE, note
from inspect_compile.origins.runnables import (
    is_minifier_folder,
    is_runnable,
    read_minifier_folder,
    read_runnable,
    runnable_nodes,
)
from inspect_compile.tables import TABLES
from tests.conftest import DumpOf, run_once
from tests.running import COMMAND, plain, run

FAILS = """
import torch
torch._inductor.config.cpp.inject_relu_bug_TESTING_ONLY = "compile_error"
try:
    torch.compile(lambda x: torch.relu(x[:5]) + 1)(torch.randn(8, 4))
except Exception as error:
    print(type(error).__name__)
"""
_OF_NODE = ("name", "op", "target", "inputs", "arguments")


@pytest.fixture(scope="session")
def minified(shared_folder: Path, inductor_cache: Path) -> Path:
    """The folder of a run whose compile failed, with the program that the minifier would begin with."""
    folder = shared_folder / "minified"

    def make(folder: Path) -> Any:
        (folder / "fails.py").write_text(FAILS)
        variables = {
            "TORCHDYNAMO_REPRO_AFTER": "aot",
            "TORCHDYNAMO_REPRO_LEVEL": "2",
            "TORCH_COMPILE_DEBUG_DIR": str(folder),
            "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache),
        }
        return plain(["fails.py"], folder, environment=variables)

    done = run_once(folder, make)
    assert "InductorError" in done.stdout, done.stderr
    [run] = (folder / paths.BASE).glob("run_*")
    return run


@pytest.mark.parametrize("sample", ["softmax_mlp", "training_step", "attention_block"])
def test_nodes_are_those_that_were_recorded(sample: str, dump_of: DumpOf, tmp_path: Path) -> None:
    recorded = Dump(dump_of(sample).dump)
    for graph in recorded.outermost():
        path = recorded.folder(graph.graph) / paths.FX_RUNNABLE
        assert is_runnable(path)
        root = tmp_path / graph.graph
        read_runnable(path, root)
        dump = open_dump(root)
        assert (dump.run.origin, dump.run.notes) == (RUNNABLE, (note(RUNNABLE),))
        assert dump.run.versions["torch"].startswith("2.")
        [ours], theirs = dump.rows(Graph), [row for row in recorded.rows(Node, graph.graph) if row.stage == "aot"]
        assert (ours.graph, ours.inputs, ours.device) == (graph.graph, graph.inputs, graph.device)
        told = [tuple(getattr(row, name) for name in _OF_NODE) for row in theirs]
        mine = [tuple(getattr(row, name) for name in _OF_NODE) for row in dump.rows(Node)]
        assert [row[:4] for row in mine] == [row[:4] for row in told]
        given = {row.name: row.values for row in theirs if row.op == "placeholder"}
        assert {row.name: row.values for row in dump.rows(Node) if row.op == "placeholder"} == given
        assert (dump.folder(ours.graph) / paths.FX_RUNNABLE).read_text() == path.read_text()


def test_what_the_minifier_leaves(minified: Path, tmp_path: Path) -> None:
    for number, path in enumerate((minified, minified / "minifier")):
        assert is_minifier_folder(path)
        read_minifier_folder(path, tmp_path / str(number))
        dump = open_dump(tmp_path / str(number))
        assert dump.run.origin == MINIFIER
        [graph] = dump.rows(Graph)
        assert graph.graph == f"{'' if number else 'minifier_'}minifier_launcher___0.0"
        assert [row.target for row in dump.rows(Node) if row.op == "call_function"] == [
            "aten.slice.Tensor", "aten.relu.default", "aten.add.Tensor",
        ]  # fmt: skip


def test_it_is_compiled_again(minified: Path, tmp_path: Path) -> None:
    done = run([*COMMAND, "import", minified, "-o", "dump", "--recompile"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 of 1 graphs compiled again" in done.stdout
    [part] = Dump(tmp_path / "dump").other_processes
    assert [row.name for row in Dump(part).rows(Kernel)] == ["cpp_fused_add_relu_slice_0"]


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(table: str, minified: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_minifier_folder(minified, tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if table in ("kernels", "wrapper", "fusion", "memory"):
        assert f"{table}: not known, since a folder of torch's minifier does not hold it" in shown.out + shown.err


PROGRAM = """
s77 = 5
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, arg0_1, arg1_1, arg2_1):
        mul = torch.ops.aten.mul.Tensor(arg0_1, arg1_1)
        return (mul,)

def load_args(reader):
    buf0 = reader.storage(None, 4*s77, device=device(type='cuda', index=1))
    reader.tensor(buf0, (s77, 2), (2, 1), dtype=torch.float16, is_leaf=True)  # arg0_1
    buf1 = reader.storage(None, 64)
    reader.tensor(buf1, (4, 4), is_leaf=True)  # arg1_1
    reader.symint(5)  # arg2_1
load_args._version = 0
mod = Repro()
from torch._dynamo.repro.after_aot import run_repro
"""


def test_devices_types_strides_and_symbols(tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_text(PROGRAM)
    read_runnable(path, tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    values = {row.name: row.values for row in dump.rows(Node) if row.op == "placeholder"}
    [first], [second] = values["arg0_1"], values["arg1_1"]
    assert (first.dtype, first.size, first.stride, first.device, first.bytes) == (
        "float16", ("s77", 2), (2, 1), "cuda:1", None,
    )  # fmt: skip
    assert (second.dtype, second.stride, second.device, second.bytes) == ("float32", (4, 1), "cpu", 64)
    assert values["arg2_1"] == ()
    assert [(row.name, row.hint) for row in dump.rows(Symbol)] == [("s77", "5")]
    assert dump.run.device == "cuda:1"


def test_a_program_of_dynamos_is_kept_as_a_text(tmp_path: Path) -> None:
    folder = tmp_path / "minifier"
    folder.mkdir()
    (folder / "minifier_launcher.py").write_text(PROGRAM.replace("after_aot", "after_dynamo"))
    (folder / "checkpoints").mkdir()
    for name in ("12.py", "3.py"):
        (folder / "checkpoints" / name).write_text(PROGRAM)
    (folder / "other.py").write_text("import os\n")
    (folder / "link.py").symlink_to(tmp_path / "repro.py")
    read_minifier_folder(folder, tmp_path / "dump")
    dump = open_dump(tmp_path / "dump")
    assert [row.name for row in dump.rows(Artifact)] == ["minifier_launcher.py"]
    assert [graph.graph for graph in dump.rows(Graph)] == ["checkpoints_3___0.0", "checkpoints_12___1.1"]
    assert {row.what: row.count for row in dump.rows(OriginRecords)} == {
        "graph that runs again": 2,
        "Dynamo program": 1,
    }


def test_nothing_of_it_runs(tmp_path: Path) -> None:
    made = tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')"
    text = (
        PROGRAM.replace("mul = ", f"{write}\n        mul = ")
        .replace("(4, 4)", f"({write}, 4)")
        .replace("None, 64", write)
    )
    (tmp_path / "a.py").write_text(f"{write}\n{text}")
    read_runnable(tmp_path / "a.py", tmp_path / "dump")
    assert open_dump(tmp_path / "dump").rows(Node)
    assert not made.exists()


@pytest.mark.parametrize(
    "line",
    [
        "    reader.tensor(buf0, (" + "1," * 2000 + "))  # arg0_1",
        "    reader.tensor(buf0, " + "(" * 400 + ")" * 400 + ")  # arg0_1",
        "    reader.tensor(buf0, (9999999999999999999999, 4, 1 << 400))  # arg0_1",
        "    reader.tensor(" + ") " * 2000 + "x",
        "    reader.tensor(*x, **y)  # arg0_1",
        "    reader.tensor(buf0, (-4, 0), dtype=x.y())  # arg0_1",
        "    " + " " * 100_000 + "reader.tensor()",
    ],
    ids=["long", "deep", "huge", "brackets", "stars", "negative", "blanks"],
)
def test_hostile_inputs_are_no_error(line: str) -> None:
    nodes = runnable_nodes("g", PROGRAM.replace("    reader.symint(5)  # arg2_1", line))
    assert [node.name for node in nodes if node.op == "placeholder"] == ["arg0_1", "arg1_1", "arg2_1"]


def test_other_programs_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    for text in ("", "class Repro(torch.nn.Module):\n", PROGRAM.replace("after_aot", "else")):
        path.write_text(text)
        assert not is_runnable(path)
    assert not is_minifier_folder(tmp_path)
    assert not is_minifier_folder(path)
