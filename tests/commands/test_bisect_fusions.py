"""`bisect-fusions`: a check that minds one fusion is run until that fusion is known."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Counted, Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from tests.running import COMMAND, SECONDS, run

PROGRAMS = Path(__file__).parent / "programs"
Capture = pytest.CaptureFixture[str]


def bisected(words: Sequence[str | Path], cwd: Path, cache: Path) -> "subprocess.CompletedProcess[str]":
    return run(
        [*COMMAND, "bisect-fusions", "--dump", "runs", *words],
        cwd,
        environment={"TORCHINDUCTOR_CACHE_DIR": str(cache), "COLUMNS": "160"},
    )


def runs_of(done: "subprocess.CompletedProcess[str]") -> list[str]:
    return re.findall(r"inspect-compile: run \d+, (.*?): (?:fails|succeeds)", done.stderr)


def most_runs(fusions: int) -> int:
    """Both ends, a halving each, and the one that confirms."""
    return math.ceil(math.log2(fusions)) + 3


@pytest.mark.harmless
def test_a_fusion_that_takes_a_rounding_away(tmp_path: Path, inductor_cache: Path) -> None:
    done = bisected(["--", sys.executable, PROGRAMS / "rounds_less.py"], tmp_path, inductor_cache)

    assert done.returncode == 0, done.stderr
    runs = runs_of(done)
    everything = Dump(tmp_path / "runs" / "all")
    counted = everything.rows(Counted)
    assert [row.number for row in counted] == list(range(1, len(counted) + 1))
    assert len(runs) <= most_runs(len(counted))
    (graph,) = (graph.graph for graph in everything.graphs())
    fused = [
        (row.a, row.b)
        for graph in everything.outermost()
        for row in candidates(CompiledGraph(everything, graph.graph))
        if row.verdict == "fused"
    ]
    assert [(row.a, row.b) for row in counted] == fused
    assert f"of {graph}" in done.stdout
    assert "rounds_less.py:12   z = x * y" in done.stdout
    assert "rounds_less.py:16   wave = torch.tanh(z.float() * 3)" in done.stdout
    (kernel,) = (row for row in everything.rows(Kernel) if "tanh" in row.name)
    assert f"kernel   {kernel.name}" in done.stdout
    assert f"denying it alone fixes the result   {len(runs)} runs" in done.stdout
    match = re.search(r"inspect-compile (replay runs/all --graph \S+ --deny \S+ \S+)", done.stdout)
    assert match is not None
    assert run([*COMMAND, *match[1].split()], tmp_path).returncode == 0


@pytest.mark.harmless
@pytest.mark.parametrize("graph", [None, "backward"])
def test_a_fusion_of_a_backward_graph(graph: str | None, tmp_path: Path, inductor_cache: Path) -> None:
    options = ["--graph", graph] if graph is not None else []

    done = bisected([*options, "--", sys.executable, PROGRAMS / "fuses_backward.py"], tmp_path, inductor_cache)

    assert done.returncode == 0, done.stderr
    counted = Dump(tmp_path / "runs" / "all").rows(Counted)
    forward = [row for row in counted if "_forward_" in row.graph]
    backward = [row for row in counted if "_backward_" in row.graph]
    assert len(forward) > 1
    assert len(backward) >= 3
    left_out = 0 if graph is None else len(forward)
    assert len(runs_of(done)) <= most_runs(len(counted) - left_out)
    whole = next(row for row in counted if row.graph == backward[0].graph and len(_sums(row.into)) == 3)
    assert f"{whole.number - left_out} of {len(counted) - left_out}: {whole.a} and {whole.b} of {whole.graph}" in (
        done.stdout
    )
    assert "denying it alone fixes the result" in done.stdout


def _sums(group: str) -> set[str]:
    """The operations of the backward graph in it that sum up columns."""
    return {"op3", "op4", "op5"}.intersection(group.split("_"))


@pytest.mark.harmless
def test_a_check_that_changes_its_mind_is_flaky(tmp_path: Path, inductor_cache: Path) -> None:
    done = bisected(["--", sys.executable, PROGRAMS / "flaky.py", "asked"], tmp_path, inductor_cache)

    assert done.returncode == 1
    assert "the check is flaky: with the first 0 fusions it succeeded, then failed" in done.stderr
    assert not done.stdout


@pytest.mark.harmless
def test_numerics_is_the_check(tmp_path: Path, inductor_cache: Path) -> None:
    """The program's exit status does not count."""
    done = bisected([PROGRAMS / "wrong_when_fused.py", "4"], tmp_path, inductor_cache)

    assert done.returncode == 0, done.stderr
    assert "with all fusions: 1 result wrong" in done.stderr
    assert "with none: nothing wrong" in done.stderr
    assert "total = (x * 7.0).sum(-1)" in done.stdout
    assert "largest = (x * 3.0).amax(-1)" in done.stdout
    assert "denying it alone fixes the result" in done.stdout
    assert Dump(tmp_path / "runs" / "all").run.exit_code == 4


def test_numerics_without_a_launch_decides_nothing(tmp_path: Path, capfd: Capture) -> None:
    words = ["--dump", str(tmp_path / "runs"), "--numerics", "--", "sh", "-c", "echo what it says; exit 3"]

    assert main(["bisect-fusions", *words]) == 1

    said = capfd.readouterr().err
    assert "run 1, with all fusions: not checked" in said
    assert "no launch could be checked, so there is no verdict; the program fails (exit 3)" in said
    assert "what it says" in said


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["true"], "the check succeeds with all fusions: nothing to bisect"),
        (["sh", "-c", "echo what it says; exit 3"], "no fusion was done: fusion is not the cause"),
    ],
)
def test_what_can_not_be_decided_is_told(command: list[str], told: str, tmp_path: Path, capfd: Capture) -> None:
    assert main(["bisect-fusions", "--dump", str(tmp_path / "runs"), "--", *command]) == 1

    said = capfd.readouterr().err
    assert told in said
    assert Dump(tmp_path / "runs" / "all").run.exit_code == (3 if "3" in command[-1] else 0)
    assert ("what it says" in said) == ("3" in command[-1])
    assert "inspect-compile: 1 run, recorded in " in said


def test_errors_say_what_there_is(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bisect-fusions"]) == 2
    assert "no check given: bisect-fusions -- COMMAND" in capsys.readouterr().err
    assert main(["bisect-fusions", "nosuchscript.py"]) == 2
    assert "nosuchscript.py" in capsys.readouterr().err
    assert main(["bisect-fusions", "--"]) == 2
    assert "no check given" in capsys.readouterr().err
    assert main(["bisect-fusions", "--numerics"]) == 2
    assert "no program given" in capsys.readouterr().err
    assert main(["bisect-fusions", "--", "nosuchcommand"]) == 2
    assert "nosuchcommand: no such command" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert main(["bisect-fusions", "--dump", "full", "--", "true"]) == 2
    assert "full: not empty" in capsys.readouterr().err
    assert not (tmp_path / "torch_compile_debug").exists()


def test_ctrl_c_ends_the_check(tmp_path: Path) -> None:
    script = "echo $$ > pid; exec sleep 600"
    words = [*COMMAND, "bisect-fusions", "--dump", "runs", "--", "sh", "-c", script]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as search:
        deadline = time.monotonic() + SECONDS
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        search.send_signal(signal.SIGINT)
        _, said = search.communicate(timeout=SECONDS)

    assert search.returncode == 130
    assert said.endswith("inspect-compile: stopped; what was run so far is in runs\n")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
