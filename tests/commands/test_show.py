"""`show`, as a person or a program calls it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import TABLES as FACT_TABLES
from inspect_compile.facts import MemoryPlan, Run
from inspect_compile.graph import Graphs
from inspect_compile.tables import TABLES, rows
from tests.conftest import DumpOf
from tests.handmade import GRAPH, ended, graph, line, lowered, made, node

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def net(tmp_path: Path) -> Dump:
    """A small dump called `net` below the working directory."""
    return made(tmp_path / "net", graph(), node("x"), node("relu", "aten.relu.default"), lowered("x"), ended(GRAPH))


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


def show(*words: str) -> int:
    return main(["show", *words])


def errors(capsys: Capture, *words: str) -> str:
    """What stderr says where the status is 2 and stdout is empty."""
    assert show(*words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


@pytest.mark.parametrize("table", TABLES)
def test_every_table_of_a_real_dump(dump_of: DumpOf, capsys: Capture, table: str) -> None:
    assert show(str(dump_of("conv_bias").dump), table) == 0

    told = capsys.readouterr()
    assert told.out.strip()
    assert told.err == ""


@pytest.mark.usefixtures("net")
def test_without_a_dump_the_newest_one_is_taken(capsys: Capture) -> None:
    assert show() == show("overview") == 0
    first, second = capsys.readouterr().out.split("net.py ·")[1:]
    assert first == second

    assert show("nodes") == 0
    assert "aten.relu.default" in capsys.readouterr().out


@pytest.mark.usefixtures("net")
def test_a_path_wins_over_a_table_of_that_name(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "net").rename(tmp_path / "nodes")

    assert show("nodes") == 0

    assert "show nodes graphs" in capsys.readouterr().out


@pytest.mark.usefixtures("net")
def test_an_unknown_table_lists_those_there_are(capsys: Capture) -> None:
    told = errors(capsys, "net", "nods")

    assert told.startswith("inspect-compile: nods: no such table")
    assert all(name in told for name in TABLES)


def test_a_word_that_is_neither(capsys: Capture) -> None:
    told = errors(capsys, "nods")

    assert "neither a dump nor a table" in told
    assert "kernels" in told


@pytest.mark.parametrize(
    ("words", "told"), [(["./gone"], "no such dump"), ([], "no dump below"), (["flops"], "no dump below")]
)
def test_a_dump_that_is_not_there(capsys: Capture, words: list[str], told: str) -> None:
    assert told in errors(capsys, *words)


def test_a_dump_that_is_farther_below_is_named(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "a" / "b" / "c" / "torch_compile_debug" / "run_1")
    monkeypatch.chdir(tmp_path)

    told = errors(capsys)
    assert "the nearest below is a/b/c/torch_compile_debug/run_1" in told
    assert "no dump below" not in told


def test_a_directory_that_is_no_dump(capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()

    assert "not a dump" in errors(capsys, "other", "flops")


@pytest.mark.usefixtures("net")
def test_a_graph_that_is_not_there_lists_those_there_are(capsys: Capture) -> None:
    assert GRAPH in errors(capsys, "net", "nodes", "--graph", "backward")


@pytest.mark.usefixtures("net")
def test_a_part_of_a_graphs_name(capsys: Capture) -> None:
    assert show("net", "nodes", "--graph", "forward") == 0
    assert GRAPH in capsys.readouterr().out


@pytest.mark.usefixtures("net")
def test_names_leave_the_rows_that_concern_them(capsys: Capture) -> None:
    assert show("net", "nodes", "relu") == 0

    told = capsys.readouterr().out
    assert "aten.relu.default" in told
    assert "placeholder" not in told


@pytest.mark.parametrize("table", TABLES)
def test_facts_are_printed_as_they_are_recorded(
    dump_of: DumpOf, capsysbinary: pytest.CaptureFixture[bytes], table: str
) -> None:
    dump = dump_of("training_step").dump

    assert show(str(dump), table, "--json") == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert len(lines) == len(list(rows(table, Graphs(Dump(dump)))))
    assert all("fact" in line for line in lines)

    assert show(str(dump), table, "--facts") == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    stored = {"overhead": "probes"}.get(table, table)
    if stored in FACT_TABLES and table not in (
        "remarks",
        "binaries",
        "origin",
        "symbols",
        "fusion",
        "measured",
        "steps",
        "numerics",
        "nonfinite",
        "cudagraphs",
        "tried",
        "trials",
    ):
        lines = [line for line in lines if line["fact"] != "inlined"]
        texts = [path.read_text() for path in dump.rglob(f"{stored}.jsonl")]
        there = [json.loads(line) for text in texts for line in text.splitlines()]
        assert sorted(map(str, there)) == sorted(map(str, lines)) != []


def test_json_of_one_graph_and_some_rows(dump_of: DumpOf, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    dump = str(dump_of("training_step").dump)

    assert show(dump, "lowering", "--json", "--graph", "backward", "--limit", "3") == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert [line["index"] for line in lines] == [0, 1, 2]
    assert {line["graph"] for line in lines} == {"model__0_backward_3.1"}

    assert show(dump, "kernels", "--json", "training_step.py:20") == 0
    kernels = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
    assert kernels
    assert all(20 in {place["line"] for place in kernel["lines"]} for kernel in kernels)


def test_flops_by_each_of_them(dump_of: DumpOf, capsys: Capture) -> None:
    dump = str(dump_of("training_step").dump)

    for by, first in (("module", "Global"), ("op", "aten.addmm"), ("line", "training_step.py:20"), ("kernel", "cpp_")):
        assert show(dump, "flops", "--by", by, "--graph", "forward") == 0
        assert first in capsys.readouterr().out
        assert show(dump, "flops", "--by", by, "--json", "--graph", "forward") == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert {row["by"] for row in rows} == {by}
        assert max(row["flops"] for row in rows) > 0
        assert all(row["flops"] == row["heavy"] + row["scalar"] for row in rows)
    assert "kernels takes no --by; it goes with: flops traffic measured" in errors(
        capsys, dump, "kernels", "--by", "op"
    )


def test_field_names_are_an_interface(dump_of: DumpOf, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """What every row of a table has, whatever else may come."""
    promised = {
        "lowering": {"graph", "node", "kind", "flops"},
        "realize": {"graph", "buffer", "node", "reason", "realized"},
        "fusion": {"graph", "round", "a", "b", "verdict", "code", "reason"},
        "kernels": {"graph", "name", "kind", "nodes", "lines"},
        "wrapper": {"graph", "line", "what", "buffer", "kernel"},
    }
    for table, fields in promised.items():
        assert show(str(dump_of("training_step").dump), table, "--json", "--limit", "1") == 0
        assert fields <= set(json.loads(capsysbinary.readouterr().out))


@pytest.mark.parametrize("sample", ["training_step", "missed_fusion"])
def test_rows_have_the_terms_of_the_tables(
    dump_of: DumpOf, capsysbinary: pytest.CaptureFixture[bytes], sample: str
) -> None:
    """Facts keep the names under which they are recorded, rows have those that a reader of the tables knows."""
    dump = str(dump_of(sample).dump)
    for table in ("lowering", "nodes", "caches", "fusion", "flops"):
        assert show(dump, table, "--json") == 0
        rows = [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]
        assert not {"way", "special"} & {name for row in rows for name in row}
        assert not {"legal", "put-off", "passed over"} & {
            row.get(name) for row in rows for name in ("verdict", "code", "outcome")
        }
        if table == "caches":
            assert {row["outcome"] for row in rows} >= {"forced miss"}
        elif table == "lowering":
            assert {row["kind"] for row in rows} >= {"placeholder", "lowering", "output"}


def test_limits(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph(), *(node(f"n{index}") for index in range(60)))

    def rows(*options: str) -> int:
        assert show("net", "nodes", *options) == 0
        return capsys.readouterr().out.count("placeholder")

    assert rows() == 40
    assert rows("--limit", "7") == 7
    assert rows("--all") == 60


def test_a_program_that_still_runs(tmp_path: Path, capsys: Capture) -> None:
    dump = made(tmp_path / "net", graph(), node("x"), run=Run(status="running", pid=os.getpid()))

    assert show("net") == 0

    assert "still runs" in capsys.readouterr().out
    assert not (dump.root / paths.FINISHED).exists()


def test_a_torn_dump_is_finished_by_its_first_reader(tmp_path: Path, capsys: Capture) -> None:
    dump = made(tmp_path / "net", graph(), node("x"), run=Run(status="running", pid=0))

    assert show("net", "nodes") == 0

    assert "placeholder" in capsys.readouterr().out
    assert (dump.folder(GRAPH) / paths.LOWERING).exists()


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("options", ["nodes --json", "nodes --all"])
def test_a_reader_that_goes_is_no_trouble(tmp_path: Path, options: str) -> None:
    made(tmp_path / "net", graph(), *(node(f"n{index}", arguments="x" * 200) for index in range(2000)))

    done = run(f"{sys.executable} -m inspect_compile show net {options} | head -1", tmp_path)

    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_colour_only_on_a_terminal(dump_of: DumpOf, tmp_path: Path) -> None:
    dump = dump_of("conv_bias").dump

    done = run(f"{sys.executable} -m inspect_compile show {dump} | cat", tmp_path)
    on_terminal = run(f"script -qec '{sys.executable} -m inspect_compile show {dump}' /dev/null", tmp_path)

    assert "conv_bias.py" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\x1b[" in on_terminal.stdout


def test_it_is_not_much_slower_than_its_imports(dump_of: DumpOf, tmp_path: Path) -> None:
    """CPU time of a whole process, the best of several, against one that imports what a rich table takes.

    Compiled to bytecode once, as an installed package is.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path / "bytecode")

    def cpu_seconds(*arguments: str) -> float:
        best = 1e9
        for _ in range(5):
            process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, env=environment)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            best = min(best, used.ru_utime + used.ru_stime)
        return best

    imports = cpu_seconds("-c", "import msgspec, rich.console, rich.table, rich.text")
    shown = cpu_seconds("-m", "inspect_compile", "show", str(dump_of("training_step").dump))

    assert shown < 3 * imports


def test_a_moment_and_those_who_hold_it_agree(tmp_path: Path, capsys: Capture) -> None:
    """What the return frees is there after the last line still; a graph that has no such line says so."""
    lines = (line(0, "allocate", buffer="buf0", bytes=100), line(1, "allocate", buffer="buf1", bytes=300))
    other = "model__1_forward_2.0"
    made(
        tmp_path / "net",
        graph(),
        graph(other),
        *lines,
        line(2, "launch", kernel="triton_0"),
        MemoryPlan(graph=GRAPH, outputs=("buf1",)),
        line(20, "allocate", buffer="buf0", bytes=7, graph=other),
    )

    assert show("net", "memory", "--at", "102") == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert show("net", "memory", "--graph", GRAPH) == 0
    steps = capsys.readouterr().out.splitlines()

    assert first.splitlines()[0].endswith("400 B live after line 102")
    assert [row.split()[0] for row in first.splitlines()[2:]] == ["300", "100"]
    assert [row.split()[4] for row in first.splitlines()[2:]] == ["101–", "100–return"]
    assert second.splitlines()[0].endswith("no line 102: lines 120 to 120")
    assert [row.split() for row in steps if "return" in row] == [["return", "-100", "300", "█" * 12]]


def test_who_holds_memory_at_a_line(tmp_path: Path, capsys: Capture) -> None:
    lines = (line(0, "allocate", buffer="buf0", bytes=100), line(1, "allocate", buffer="buf1", bytes=300))
    made(tmp_path / "net", graph(), ended(), *lines, line(2, "free", buffer="buf0"))

    assert show("net", "memory", "--at", "peak") == 0
    at_peak = capsys.readouterr().out.splitlines()
    assert show("net", "memory", "--at", "102") == 0
    later = capsys.readouterr().out.splitlines()

    assert at_peak[0].endswith("400 B live after line 101 (peak)")
    assert [row.split()[0] for row in at_peak[2:]] == ["300", "100"]
    assert [row.split()[0] for row in later[2:]] == ["300"]
    assert show("net", "memory", "--at", "102", "--json") == 0
    assert [row["buffers"] for row in map(json.loads, capsys.readouterr().out.splitlines())] == [["buf1"]]
    for beyond in ("7", "99", "103", "9999"):
        told = f"--at {beyond}: no line of the wrapper; model__0_forward_1.0: lines 100 to 102; or: peak"
        assert told in errors(capsys, "net", "memory", "--at", beyond)
    assert "neither a line of output_code.py nor `peak`" in errors(capsys, "net", "memory", "--at", "top")
    assert "kernels takes no --at; it goes with: memory" in errors(capsys, "net", "kernels", "--at", "peak")
