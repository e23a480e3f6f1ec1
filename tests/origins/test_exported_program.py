"""An exported program: its nodes are those that torch itself has of it, and nothing of it is loaded."""

import json
import pickle
import random
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Artifact, Graph, Node, OriginRecords, Symbol
from inspect_compile.knowledge.origins import EXPORTED_PROGRAM, note
from inspect_compile.origins.exported_program import expression_text, read_program
from inspect_compile.origins.importing import is_readable
from inspect_compile.origins.packages import is_package, read_package
from inspect_compile.tables import TABLES
from tests.conftest import run_once
from tests.running import plain

PROGRAM = Path(__file__).parent / "programs" / "packaged.py"


@pytest.fixture(scope="session")
def exported(shared_folder: Path) -> tuple[Path, dict[str, list[list[str]]]]:
    """The folder of the two programs, and the nodes of each as torch has them: op, name, inputs."""
    folder = shared_folder / "exported"
    done = run_once(folder, lambda folder: plain([PROGRAM, "exported"], folder))
    assert done.returncode == 0, done.stderr
    nodes: dict[str, list[list[str]]] = {}
    for path, *words in map(str.split, done.stdout.splitlines()):
        nodes.setdefault(path, []).append(words)
    return folder, nodes


def read(path: Path, root: Path) -> Dump:
    assert is_package(path)
    assert is_readable(path)
    read_package(path, root)
    return open_dump(root)


@pytest.mark.parametrize("name", ["exported", "choice"])
def test_nodes_are_those_of_torch(name: str, exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    folder, nodes = exported
    dump = read(folder / f"{name}.pt2", tmp_path / "dump")
    assert dump.run.origin == EXPORTED_PROGRAM
    assert dump.run.notes == (note(EXPORTED_PROGRAM),)
    assert dump.run.versions["torch"].startswith("2.")
    # A graph that a conditional is given is a node of its own in torch's graph, and a name in the file.
    graphs = {words[1] for words in nodes[name] if words[0] == "get_attr"}
    told = [[words[0], words[1], *(one for one in words[2:] if one not in graphs)] for words in nodes[name]]
    own = [row for row in dump.rows(Node) if row.graph == "model"]
    assert [[row.op, row.name, *row.inputs] for row in own] == [words for words in told if words[0] != "get_attr"]


def test_tensors_weights_symbols_and_lines(exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    dump = read(exported[0] / "exported.pt2", tmp_path / "dump")
    [graph], nodes = dump.rows(Graph), {row.name: row for row in dump.rows(Node)}
    assert (graph.graph, graph.kind, graph.inputs, graph.device) == ("model", "inference", 6, "cpu")
    weight, x = nodes["p_qkv_weight"], nodes["x"]
    assert (weight.op, weight.target, weight.values[0].size, weight.values[0].bytes) == (
        "placeholder", "qkv.weight", (48, 16), 4 * 48 * 16,
    )  # fmt: skip
    [symbol] = dump.rows(Symbol)
    assert (symbol.hint, symbol.lower, symbol.upper, symbol.source) == ("8", "2", "64", "x.size()[0]")
    assert (x.values[0].dtype, x.values[0].size, x.values[0].bytes) == ("float32", (symbol.name, 16), 4 * 8 * 16)
    linear = nodes["linear"]
    assert (linear.target, linear.module, linear.module_type) == ("aten.linear.default", "qkv", "Linear")
    assert linear.arguments == "%layer_norm, %p_qkv_weight, %p_qkv_bias"
    assert linear.where is not None
    assert linear.where.file == str(PROGRAM)
    assert linear.where.code == PROGRAM.read_text().split("\n")[linear.where.line - 1].strip()
    assert len(nodes["chunk"].values) == 3
    assert nodes["output"].values == nodes["add"].values
    [weights] = dump.rows(Artifact)
    assert "qkv.weight  float32[48, 16]  3,072 bytes" in weights.text.split("\n")
    assert "scale  float32[16]  64 bytes" in weights.text.split("\n")


def test_graphs_in_a_graph(exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    dump = read(exported[0] / "choice.pt2", tmp_path / "dump")
    nested = [graph for graph in dump.graphs() if graph.parent]
    assert [graph.parent for graph in nested] == ["model", "model"]
    computed = [{row.target for row in dump.rows(Node) if row.graph == graph.graph} for graph in nested]
    assert {"aten.sin.default", "aten.cos.default"} <= set.union(*computed)


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(
    table: str,
    exported: tuple[Path, dict[str, list[list[str]]]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    read_package(exported[0] / "exported.pt2", tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if table in ("kernels", "wrapper", "lowering", "schedule", "time"):
        assert f"{table}: not known, since a program of torch.export does not hold it" in shown.out + shown.err


def test_a_node_and_a_drawing(
    exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_package(exported[0] / "exported.pt2", tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), "node", "linear"]) == 0
    shown = capsys.readouterr().out
    assert "kernels: not known" in shown
    assert "nothing of it is computed" not in shown
    assert main(["draw", str(tmp_path / "dump"), "fx", "-o", str(tmp_path / "fx.dot")]) == 0
    assert "aten.linear.default" in (tmp_path / "fx.dot").read_text() or "linear" in (tmp_path / "fx.dot").read_text()


def test_it_is_not_compiled_again(
    exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "dump"
    assert main(["import", str(exported[0] / "exported.pt2"), "-o", str(root), "--recompile"]) == 2
    said = f"inspect-compile: {root}: a program of torch.export has no graph that could be compiled again\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Symbol('s77', positive=True, integer=True)", "s77"),
        ("Mul(Integer(2), Symbol('s0', integer=True))", "2*s0"),
        ("Mul(Integer(3), Add(Symbol('s0'), Integer(-1)))", "3*(s0 + -1)"),
        ("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", "(s0 + 1)//2"),
        ("Max(Symbol('s0'), Integer(4))", "Max(s0, 4)"),
        ("__import__('os').system('x')", "__import__('os').system('x')"),
        ("Add(" * 150 + ")" * 150, "Add(" * 150 + ")" * 150),
        ("(" * 900, "(" * 900),
        ("9" * 900, "9" * 900),
        ("", ""),
    ],
)
def test_expressions(text: str, shown: str) -> None:
    assert expression_text(text) == shown


class Evil:
    """Writes a file where it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self.path, "w")


def package(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_nothing_in_it_is_loaded(exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    made = tmp_path / "made"
    with zipfile.ZipFile(exported[0] / "exported.pt2") as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for name in members:
        if not name.endswith("models/model.json"):
            members[name] = pickle.dumps(Evil(str(made)))
    dump = read(package(tmp_path / "evil.pt2", members), tmp_path / "dump")
    assert dump.rows(Node)
    assert not made.exists()


def test_wrong_types_are_no_error(exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    """Each value of the file in turn becomes another type, or goes."""
    with zipfile.ZipFile(exported[0] / "exported.pt2") as archive:
        [name] = [name for name in archive.namelist() if name.endswith("models/model.json")]
        whole = json.loads(archive.read(name))
    chance = random.Random(3)
    others: tuple[Any, ...] = (None, [], {}, "x" * 2000, -1, 1 << 80, 1.5, True, [[[]]], {"name": {"name": []}})
    places = list(places_in(whole))
    for place in chance.sample(places, 400):
        changed = json.loads(json.dumps(whole))
        inner = changed
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = chance.choice(others)
        found = read_program("model", json.dumps(changed).encode())
        assert found.facts or found.note


def places_in(found: Any, before: tuple[Any, ...] = ()) -> Any:
    keys = found.keys() if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
    for key in keys:
        yield (*before, key)
        yield from places_in(found[key], (*before, key))


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[" * 1_000_000, b"[]", b'{"graph_module": {"graph": 3}}', b"\xff", b'{"a":' * 100_000],
    ids=["empty", "torn", "deep", "list", "number", "no text", "deep names"],
)
def test_what_is_no_graph_is_said(data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = package(tmp_path / "a.pt2", {"a/models/model.json": data})
    dump = read(path, tmp_path / "dump")
    assert [note for note in dump.run.notes if note.startswith("the graph of model is not read")]
    assert main(["show", str(tmp_path / "dump")]) in (0, 1)
    assert "Traceback" not in capsys.readouterr().err


def test_graphs_nested_too_deep_are_left_out() -> None:
    graph: dict[str, Any] = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}}
    for number in range(60):
        argument = {"name": "g", "arg": {"as_graph": {"name": f"g{number}", "graph": graph}}, "kind": 1}
        node = {"target": "torch.ops.higher_order.cond", "inputs": [argument], "outputs": [], "name": "cond"}
        graph = {**graph, "nodes": [node]}
    found = read_program("model", json.dumps({"graph_module": {"graph": graph}}).encode())
    assert sum(isinstance(fact, Graph) for fact in found.facts) == 17


def test_members_that_are_damaged_or_too_large_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_compile.origins.packages.LONGEST_TEXT", 100)
    path = package(tmp_path / "a.pt2", {"a/models/model.json": b" " * 101, "a/models/other.json": b"{}" * 40})
    data = bytearray(path.read_bytes())
    at = data.index(b"other.json") + len("other.json")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    dump = read(path, tmp_path / "dump")
    assert {row.what: row.count for row in dump.rows(OriginRecords) if row.became == "not read"} == {
        "files: damaged": 1,
        f"files: longer than {100 >> 20} MiB": 1,
    }


def test_a_zip_without_a_model_is_none(tmp_path: Path) -> None:
    assert not is_package(package(tmp_path / "a.zip", {"a.txt": b"x"}))
    assert not is_package(PROGRAM)
    assert not is_package(tmp_path)


def test_torch_is_not_imported(exported: tuple[Path, dict[str, list[list[str]]]], tmp_path: Path) -> None:
    text = (
        "import sys; from pathlib import Path; from inspect_compile.origins.importing import read_into;"
        f"read_into(Path({str(exported[0] / 'exported.pt2')!r}), Path('dump')); assert 'torch' not in sys.modules"
    )
    done = plain(["-c", text], tmp_path)
    assert done.returncode == 0, done.stderr
