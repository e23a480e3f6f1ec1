"""A run of two ranks whose compiles differ: recorded once by way of each launcher, and told by `show`."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from tests.conftest import Recorded, run_once, run_sample
from tests.running import last_words, without_last_words

Capture = pytest.CaptureFixture[str]
LAUNCH = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
US = ["inspect_compile", "run", "--no-tui", "--dump", "dump"]
UNEVEN = ("--uneven",)
DEFINED = r"(\w+) = async_compile\.\w+\(.*?'''(.*?)'''"
"""A kernel in the output code: its name and its source."""


@pytest.fixture(scope="session")
def launched(shared_folder: Path, inductor_cache: Path) -> Callable[[str], Recorded]:
    """`launched("outside")`: we start torchrun; `launched("inside")`: torchrun starts us, once for each rank."""
    commands = {"outside": [sys.executable, "-m", *US, "--", *LAUNCH], "inside": [*LAUNCH, "-m", *US]}

    def launched(way: str) -> Recorded:
        folder = shared_folder / "ranks" / way
        result = run_once(folder, lambda folder: run_sample(commands[way], "ddp_step", UNEVEN, folder, inductor_cache))
        return Recorded(folder / "dump", result)

    return launched


@pytest.fixture
def outside(launched: Callable[[str], Recorded], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The dump of the run, in the current directory as `dump`."""
    recorded = launched("outside")
    monkeypatch.chdir(recorded.dump.parent)
    monkeypatch.setenv("COLUMNS", "120")
    return recorded.dump


def show(capsys: Capture, *words: str) -> str:
    assert main(["show", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("way", ["outside", pytest.param("inside", marks=pytest.mark.harmless)])
def test_both_ways_give_one_run_with_a_folder_for_each_rank(launched: Callable[[str], Recorded], way: str) -> None:
    dump, result = launched(way).dump, launched(way).result
    assert result.returncode == 0, result.stderr
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["step 0", "step 1", "step 2"]
    parts = [Dump(path) for path in Dump(dump).other_processes]
    assert [(part.root.name, part.run.rank, part.run.status) for part in parts] == [
        ("rank_0", 0, "finished"),
        ("rank_1", 1, "finished"),
    ]
    assert all([graph.kind for graph in part.graphs()] == ["forward", "backward"] for part in parts)
    assert result.stderr.count("inspect-compile: ") == 1


def test_the_last_words(launched: Callable[[str], Recorded]) -> None:
    assert last_words(launched("outside").result.stderr) == [
        "inspect-compile: 2 ranks that compiled in dump; see: inspect-compile show dump"
    ]


@pytest.mark.harmless
def test_the_last_words_of_ranks_that_start_us(launched: Callable[[str], Recorded]) -> None:
    (line,) = [line for line in launched("inside").result.stderr.splitlines() if line.startswith("inspect-compile: ")]
    assert re.fullmatch(
        r"inspect-compile: 2 graphs, 5 kernels(, 1 other rank that compiled)? in dump(/rank_0)?;"
        r" see: inspect-compile show dump(/rank_0)?",
        line,
    )
    assert launched("outside").result.stdout == launched("inside").result.stdout


@pytest.mark.harmless
def test_ranks_end_as_they_would_alone(
    launched: Callable[[str], Recorded], tmp_path: Path, inductor_cache: Path
) -> None:
    alone = run_sample(LAUNCH, "ddp_step", UNEVEN, tmp_path, inductor_cache)
    for way in ("outside", "inside"):
        result = launched(way).result
        assert (result.stdout, result.returncode) == (alone.stdout, alone.returncode)
        ours = [line for line in without_last_words(result.stderr).splitlines() if "inspect-compile: " not in line]
        assert len(ours) == len(alone.stderr.splitlines())


@pytest.mark.usefixtures("outside")
def test_the_summary_has_a_line_for_each_rank_and_says_how_to_choose(capsys: Capture) -> None:
    told = show(capsys, "dump")
    for rank in (0, 1):
        assert re.search(rf"rank {rank}   2 graphs, 5 kernels.* show dump --rank {rank}\n", told)
    assert re.search(r"Rank 1 compiled something different from rank 0: \d+ differences .*show dump ranks", told)
    assert "--rank R" in told
    assert "model__0_forward" not in told
    assert "model__0_forward" in show(capsys, "dump", "--rank", "1")
    assert "show dump --rank 1 TABLE" in show(capsys, "dump", "summary", "--rank", "1")


@pytest.mark.usefixtures("outside")
def test_what_ran_between_the_graphs_is_told(capsys: Capture) -> None:
    """The reducer of DistributedDataParallel calls its collectives from C++: no graph has them."""
    assert re.search(r"ranks 0-1   outside of compiled graphs: 6 all_reduce .*show dump ranks", show(capsys, "dump"))
    summary = show(capsys, "dump", "summary", "--rank", "1")
    assert re.search(r"outside of compiled graphs: 6 all_reduce .*remarks", summary)
    ranks = show(capsys, "dump", "ranks")
    assert "Collectives outside of compiled graphs, ranks 0-1 each" in ranks
    assert re.search(r"all_reduce +3 +6.92 kB +float +DistributedDataParallel's reducer +ddp_step.py:\d+", ranks)
    for words in (("dump",), ("dump", "--rank", "0")):
        told = show(capsys, *words, "remarks")
        assert told.count("collectives-outside") == 6
        assert "3 times, 6,924 B of float" in re.sub(r"\s+", " ", told)


@pytest.mark.usefixtures("outside")
def test_a_table_needs_a_rank(capsys: Capture) -> None:
    assert main(["show", "dump", "kernels"]) == 2
    assert "2 ranks, each with kernels of its own; choose one with --rank (0-1)" in capsys.readouterr().err
    assert main(["draw", "dump"]) == 2
    assert "--rank (0-1)" in capsys.readouterr().err
    assert main(["show", "dump", "--rank", "7", "kernels"]) == 2
    assert "no such rank in dump; there are: 0-1" in capsys.readouterr().err
    assert "cpp_fused_gelu_0" in show(capsys, "dump", "--rank", "1", "kernels")


def test_the_picture_of_the_ranks(outside: Path, tmp_path: Path) -> None:
    assert main(["draw", "dump", "ranks", "-o", str(tmp_path / "ranks.svg")]) == 0
    drawn = (tmp_path / "ranks.svg").read_text(encoding="utf-8")
    for rank in (0, 1):
        assert f">rank {rank}</text>" in drawn
        for graph in Dump(outside / f"rank_{rank}").outermost():
            assert f">{graph.kind} {graph.graph}</text>" in drawn
    assert ">all_reduce ×6, " in drawn


def test_ranks_tells_what_the_generated_code_shows(outside: Path, capsys: Capture) -> None:
    """The witness is torch's output code of both ranks, which the comparison does not read."""
    lines = [json.loads(line) for line in show(capsys, "dump", "ranks", "--json").splitlines()]
    found = [line for line in lines if line["fact"] == "difference"]
    assert [(line["rank"], line["same_as"]) for line in lines if line["fact"] == "rank"] == [(0, 0), (1, 1)]
    for graph in ("model__0_forward_1.0", "model__0_backward_3.1"):
        codes = [Dump(outside / f"rank_{rank}").text(graph, "output_code.py") or "" for rank in (0, 1)]
        sources = [dict(re.findall(DEFINED, code, re.DOTALL)) for code in codes]
        shapes = [set(re.findall(r"(\w+) = rand_strided\((\(.*?\)),", code)) for code in codes]
        other_kernels = {name for name in sources[0] if sources[0][name] != sources[1].get(name)}
        rows = {line["kind"]: line for line in found if line["graph"] == graph}
        assert set(rows["kernels"]["a"]) == other_kernels != set()
        assert tuple(int(max(re.findall(r"\((\d+), 16\)", str(found)))) for found in shapes) == (64, 48)
        inputs = [line for line in rows["nodes"]["a"] if line.startswith("placeholder")]
        assert len(inputs) == len(shapes[0] - shapes[1]) > 0
    assert {line["kind"] for line in found} == {"nodes", "kernels"}
    told = show(capsys, "dump", "ranks")
    assert "show dump --rank 1 kernels --graph model__0_forward_1.0" in told


@pytest.mark.usefixtures("outside")
def test_diff_of_dumps_and_of_ranks(capsys: Capture) -> None:
    assert main(["diff", "dump/rank_0", "dump/rank_1"]) == 1
    told = capsys.readouterr().out
    assert told.startswith("1 cause of differences between dump/rank_0 and dump/rank_1\n")
    assert "Dynamo  input L_x_ is float32[48, 16], was float32[64, 16]" in told, "the ranks have other batches"
    assert "4 differences of graphs with these causes" in told
    assert main(["diff", "dump/rank_0", "dump/rank_0", "--json"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["diff", "dump", "dump", "--rank", "0"]) == 0
    assert "No difference: dump --rank 0 and dump --rank 0 compiled the same, 2 graphs" in capsys.readouterr().out
    assert main(["diff", "dump", "dump/rank_0"]) == 2
    assert "choose one with --rank" in capsys.readouterr().err


def test_a_directory_that_another_launch_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / "run.json").write_text("{}")
    (tmp_path / "script.py").write_text("print('started')")
    environment = {**os.environ, "RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
    result = subprocess.run(
        [sys.executable, "-m", *US, "script.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (125, "")
    assert "holds a dump already" in result.stderr
