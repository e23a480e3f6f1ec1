"""`export --format perfetto|json|dot`, each read by something that knows nothing of how it was written."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.frontend.times import parts
from inspect_compile.commands import main
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Launched, Run, Timed
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables import TABLES
from tests.handmade import made
from tests.report.pages import MIXED, recorded


def exported(root: Path, file: Path, form: str, *words: str) -> bytes:
    """What is written of a dump."""
    assert main(["export", str(root), "--format", form, "-o", str(file), *words]) == 0
    return file.read_bytes()


def measured(root: Path) -> Dump:
    """A recorded dump whose launches took 1 ms, 2 ms and so on, graph by graph."""
    dump = Dump(recorded(root))
    writer = Writer(dump.root)
    for graph in dump.outermost():
        for number, launch in enumerate(CompiledGraph(dump, graph.graph).launches, 1):
            writer.add(
                Launched(
                    graph=launch.graph,
                    what="launch",
                    kernel=launch.kernel.name,
                    line=launch.line,
                    device="cpu",
                    calls=3,
                    first=float(number),
                    milliseconds=float(number),
                    least=float(number),
                )
            )
    writer.flush()
    return Dump(dump.root)


def lanes(data: bytes) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """The lasting events of each thread, which are inside each other or apart, as the format asks."""
    trace = json.loads(data)
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in trace["traceEvents"]:
        assert event["ph"] in ("X", "M", "C"), event
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "X":
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            found.setdefault((event["pid"], event["tid"]), []).append(event)
        elif event["ph"] == "C":
            assert all(isinstance(value, int) for value in event["args"].values())
    for events in found.values():
        open_: list[float] = []
        for event in sorted(events, key=lambda one: (one["ts"], -one["dur"])):
            while open_ and open_[-1] <= event["ts"] + 2:
                open_.pop()
            end = event["ts"] + event["dur"]
            assert not open_ or end <= open_[-1] + 2, event
            open_.append(end)
    return found


def test_a_trace_has_compiling_and_a_call_of_each_graph(tmp_path: Path) -> None:
    dump = measured(tmp_path)

    data = exported(dump.root, tmp_path / "x.json", "perfetto")

    found = lanes(data)
    compiling = [event for (pid, _), events in found.items() if pid == dump.run.pid for event in events]
    assert sorted(event["name"] for event in compiling) == sorted(part.name for part in parts(dump))
    names = {
        event["pid"]: event["args"]["name"]
        for event in json.loads(data)["traceEvents"]
        if event["name"] == "process_name"
    }
    assert len(names) == 1 + len(dump.outermost())
    for graph in dump.outermost():
        (pid,) = (pid for pid, name in names.items() if name.startswith(f"{graph.graph}: one call"))
        own = CompiledGraph(dump, graph.graph).launches
        assert [event["name"] for event in found[pid, 0]] == [launch.kernel.name for launch in own]
        assert [event["dur"] for event in found[pid, 0]] == [1e3 * number for number, _ in enumerate(own, 1)]
        assert min(event["ts"] for event in found[pid, 0]) > max(event["ts"] + event["dur"] for event in compiling)
        held = [
            event["args"]["bytes"]
            for event in json.loads(data)["traceEvents"]
            if event["ph"] == "C" and event["pid"] == pid
        ]
        assert max(held) == CompiledGraph(dump, graph.graph).memory.peak


def test_ranks_are_processes_on_one_clock(tmp_path: Path) -> None:
    root = tmp_path / "dump"
    made(root, run=Run(status="ranks", argv=("net.py",)))
    for rank in (0, 1):
        run = Run(status="finished", argv=("net.py",), rank=rank, pid=7)
        made(root / f"rank_{rank}", Timed(graph="0/0", name="compile", start=100.0 + rank, seconds=3.0), run=run)

    found = lanes(exported(root, tmp_path / "x.json", "perfetto"))

    assert {pid: events[0]["ts"] for (pid, _), events in found.items()} == {7: 0.0, 8: 1e6}


def test_json_has_what_show_prints(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    data = json.loads(exported(MIXED, tmp_path / "x.json", "json"))

    assert data["run"]["argv"] == list(Dump(MIXED).run.argv)
    assert {*data["tables"], *data["not_there"]} == set(TABLES)
    for name, rows in data["tables"].items():
        capsysbinary.readouterr()
        assert main(["show", str(MIXED), name, "--json", "--all"]) == 0
        assert [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()] == rows, name
    assert all(data["tables"][name] for name in ("findings", "nodes", "fusion", "kernels", "memory", "time"))


def test_json_of_a_graph(tmp_path: Path) -> None:
    data = json.loads(exported(MIXED, tmp_path / "x.json", "json", "--graph", "backward"))

    assert {row["graph"] for row in data["tables"]["kernels"]} == {
        graph.graph for graph in Dump(MIXED).outermost() if graph.kind == "backward"
    }


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_dot_is_what_draw_writes(tmp_path: Path) -> None:
    data = exported(MIXED, tmp_path / "x.dot", "dot", "--graph", "forward")

    assert main(["draw", str(MIXED), "--graph", "forward", "--format", "dot", "-o", str(tmp_path / "y.dot")]) == 0
    assert data == (tmp_path / "y.dot").read_bytes()
    whole = exported(MIXED, tmp_path / "z.dot", "dot")
    nop = subprocess.run(["nop", "-p"], input=whole, capture_output=True, check=False)
    assert nop.returncode == 0, nop.stderr
    assert whole.count(b"\ndigraph ") > data.count(b"\ndigraph ")


def test_the_file_is_named_after_the_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = recorded(tmp_path)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    assert main(["export", str(root), "--format", "model-explorer"]) == 0

    assert sorted(path.name for path in Path().iterdir()) == [
        "mixed.model-explorer.bytes.json",
        "mixed.model-explorer.flops.json",
        "mixed.model-explorer.json",
    ]
    *_, last = capsys.readouterr().out.splitlines()
    assert last.endswith("--node_data_paths=mixed.model-explorer.bytes.json,mixed.model-explorer.flops.json")


def test_a_pipe_gets_the_file_alone(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", str(MIXED), "--format", "model-explorer", "-o", "/dev/stdout"]) == 0

    assert json.loads(capfdbinary.readouterr().out)["label"] == "mixed"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--format", "svg"), "invalid choice: 'svg'"),
        ((), "the following arguments are required: --format"),
        (("--format", "dot", "--graph", "sideways"), "sideways"),
        (("--format", "json", "-o", "/dev/full"), "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_line(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(MIXED), *words]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_of_ranks_one_is_to_be_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "dump"
    made(root, run=Run(status="ranks", argv=("net.py",)))
    shutil.copytree(MIXED, root / "rank_0")
    shutil.copytree(MIXED, root / "rank_1")

    assert main(["export", str(root), "--format", "dot", "-o", str(tmp_path / "x.dot")]) == 2
    assert "--rank" in capsys.readouterr().err
    assert main(["export", str(root), "--format", "dot", "-o", str(tmp_path / "x.dot"), "--rank", "1"]) == 0
