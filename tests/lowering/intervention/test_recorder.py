"""`numerics --recorder`: the call that NaN or Inf comes out of is examined, and the program runs as without."""

import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, flagged_calls, nonfinite_rows
from inspect_compile.analysis.overview.remarks import remark_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import FlaggedCalls, Graph
from inspect_compile.graph import Graphs
from tests.running import COMMAND, plain, run

PROGRAM = Path(__file__).parent / "programs" / "recorded.py"
STEPS = 9
BAD = 6


def kinds(dump: Dump) -> dict[str, Graph]:
    """Kind → the graph of that kind."""
    return {graph.kind: graph for graph in dump.graphs()}


def code(row: NonFiniteRow) -> str:
    """The source line that is named."""
    assert row.where is not None
    return PROGRAM.read_text("utf-8").splitlines()[row.where.line - 1].strip()


@pytest.mark.parametrize("kind", ["forward", "backward", "saved", "half", "nothing"])
def test_the_step_that_goes_wrong(kind: str, tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--recorder", "--dump", "dump", PROGRAM, kind], tmp_path, environment=environment)

    assert done.returncode == (0 if kind == "nothing" else 1), done.stderr
    if kind == "half":
        assert done.stdout == plain([PROGRAM, kind], tmp_path, environment=environment).stdout
    dump = Dump(tmp_path / "dump")
    graphs, rows = kinds(dump), list(nonfinite_rows(Graphs(dump)))
    flagged = {row.graph: row for row in flagged_calls(Graphs(dump))}
    assert flagged.keys() == {graphs["forward"].graph, graphs["backward"].graph}
    for seen in flagged.values():
        assert (seen.calls, seen.examinable, seen.reason) == (STEPS, STEPS, "")
        assert (seen.kept_calls, seen.waits) == (1, 0)  # a CPU has answered when it is asked
    assert flagged[graphs["backward"].graph].first == (0 if kind == "nothing" else BAD)
    found = [(row.graph, row.kind, row.call, row.step) for row in rows]
    forward, backward = graphs["forward"].graph, graphs["backward"].graph
    if kind == "nothing":
        assert found == []
        assert "no NaN or Inf flag in 18 calls of 2 graphs" in done.stderr
        return
    if kind == "forward":
        assert found == [(forward, "NaN", BAD, BAD)]
        assert code(rows[0]) == "h = h * torch.log(level)"
        assert (rows[0].node, rows[0].operands[0].value) == ("log", "-1.0")
        assert "log(" in rows[0].statement
    elif kind == "backward":
        assert found == [(backward, "NaN", BAD, BAD)]
        assert code(rows[0]) == "h = h + torch.sqrt((level - 1) * self.scale)"
        assert flagged[forward].first == BAD + 1
    elif kind == "saved":
        assert found == [(forward, "Inf", BAD, BAD), (backward, "NaN", BAD, BAD)]
        assert code(rows[0]) == "product = (x * level) @ self.up.weight.t()"
        assert rows[1].from_inf == rows[0].node
    else:
        assert found == [(forward, "Inf", BAD, BAD), (forward, "NaN", BAD, BAD)]
        assert code(rows[0]) == "product = (x * level).half() @ (10 * self.up.weight.t()).half()"
        assert (rows[0].dtype, rows[0].node) == ("float16", "mm")
    assert not any(row.came_in or row.reason or row.again for row in rows)
    remarks = [row for row in remark_rows(Graphs(dump)) if row.code == "numerics-not-finite"]
    assert [row.graph for row in remarks] == [row.graph for row in rows]
    assert "in call 6 (step 6): " in remarks[0].message
    page = " ".join(run([*COMMAND, "show", "dump", "nonfinite"], tmp_path).stdout.split())
    assert f"{rows[0].graph}, step 6, call 6, result {rows[0].output}" in page
    assert "kept on cpu to examine a call: " in page


def test_a_program_that_ends_by_an_exception(tmp_path: Path, inductor_cache: Path) -> None:
    """Nothing is called after the call that raised the flag: it is read, and the call examined, at the end."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    words: list[str | Path] = [*COMMAND, "numerics", "--recorder", "--dump", "dump", PROGRAM, "forward", "--raise"]

    done = run(words, tmp_path, environment=environment)

    assert done.returncode == 1
    assert "FloatingPointError: loss in step 6" in done.stderr
    assert "the program itself ended with status 1" in done.stderr
    (row,) = nonfinite_rows(Graphs(Dump(tmp_path / "dump")))
    assert (row.node, row.call, row.reason) == ("log", BAD, "")


def test_what_is_not_kept_is_said(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    words: list[str | Path] = [
        *COMMAND,
        "numerics",
        "--recorder",
        "--keep",
        "1kB",
        "--dump",
        "dump",
        PROGRAM,
        "backward",
    ]

    done = run(words, tmp_path, environment=environment)

    assert done.returncode == 1
    dump = Dump(tmp_path / "dump")
    forward, backward = (kinds(dump)[kind].graph for kind in ("forward", "backward"))
    first, second = nonfinite_rows(Graphs(dump))
    assert (first.graph, first.kind, first.call, first.kernel) == (backward, "NaN", BAD, "")
    assert "was not kept" in first.reason
    assert (second.graph, second.call) == (forward, BAD + 1)
    assert "--keep" in second.reason
    assert {(row.calls, row.examinable, row.kept_bytes) for row in flagged_calls(Graphs(dump))} == {(STEPS, 0, 0)}
    assert f"could not be examined: {STEPS} of {STEPS} calls of {forward}" in done.stderr
    assert "its cause is not known" in done.stderr


SCENES = """
import torch, inspect_compile

@torch.compile
def steady(x, weight):
    return torch.relu(x @ weight)

@torch.compile
def divided(x, y):
    return x / y

weight, y = torch.nn.Parameter(torch.eye(4)), torch.ones(3)

with inspect_compile.capture("dump", numerics={"recorder": True}) as dump, torch.no_grad():
    for step in range(1, 9):
        steady(torch.randn(2, 4), weight)
        y.fill_(0.0 if step in (3, 4, 7) else 1.0)
        divided(torch.ones(3), y)
    weight.fill_(float("inf"))
    steady(torch.ones(2, 4), weight)
divided(torch.ones(3), torch.zeros(3))
print(torch.rand(1).item())
"""


def test_graphs_that_train_nothing(tmp_path: Path, inductor_cache: Path) -> None:
    """In a capture: flags that rise again, an input that has Inf, and calls after the block, which nobody looks at."""
    (tmp_path / "scenes.py").write_text(SCENES)

    done = plain(["scenes.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    steady, divided = (row.graph for row in flagged_calls(Graphs(dump)))
    rows = list(nonfinite_rows(Graphs(dump)))
    assert [(row.graph, row.kind, row.call, row.step, row.again, row.node) for row in rows] == [
        (divided, "Inf", 3, 3, False, "div"),
        (divided, "Inf", 7, 7, True, "div"),
    ]
    seen = {row.graph: (row.calls, row.flagged, row.first, row.last) for row in flagged_calls(Graphs(dump))}
    assert seen == {steady: (9, 1, 9, 9), divided: (8, 3, 3, 7)}
    batch, parameter = 2 * 4 * 4, 4 * 4 * 4
    kept = [row.kept_bytes for row in dump.rows(FlaggedCalls) if row.graph == steady]
    assert (kept[0], kept[-1]) == (batch, batch + parameter)  # the parameter stays where it is until it is changed
    page = run([*COMMAND, "show", "dump", "nonfinite"], tmp_path).stdout
    assert "Inf again: div" in page


def test_graphs_that_are_not_chosen(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    options = ("--recorder", "--graph", "backward", "--calls", "1-4", "--dump", "dump")

    done = run([*COMMAND, "numerics", *options, PROGRAM, "backward"], tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    (seen,) = flagged_calls(Graphs(Dump(tmp_path / "dump")))
    assert (seen.graph, seen.calls) == (kinds(Dump(tmp_path / "dump"))["backward"].graph, 4)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("--nonfinite",), "not allowed with argument"),
        (("--deterministic",), "not allowed with argument"),
        (("--eager",), "the recorder looks for NaN and Inf alone"),
        (("--continue-with", "reference"), "looking for NaN and Inf checks no call"),
    ],
)
def test_what_does_not_go_with_it_is_refused(other: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = run([*COMMAND, "numerics", "--recorder", *other, "nothing.py"], tmp_path)

    assert done.returncode == 2
    assert said in done.stderr


def test_each_rank_has_its_own(tmp_path: Path, inductor_cache: Path) -> None:
    """Rank 1 makes the NaN, and rank 0 gets it with the gradients."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "OMP_NUM_THREADS": "1"}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    words: list[str | Path] = [
        *COMMAND,
        "numerics",
        "--recorder",
        "--dump",
        "dump",
        "--",
        *torchrun,
        PROGRAM,
        "forward",
    ]

    done = run(words, tmp_path, environment=environment)

    assert done.returncode == 1, done.stderr
    first, second = (Dump(tmp_path / "dump" / f"rank_{rank}") for rank in (0, 1))
    (made,) = [row for row in nonfinite_rows(Graphs(second)) if not row.came_in]
    assert (made.node, made.call, made.step) == ("log", BAD, BAD)
    assert all(row.came_in for row in nonfinite_rows(Graphs(first)))
    assert {row.first for row in flagged_calls(Graphs(first))} == {BAD + 1}
    assert "rank 1: first NaN: log" in done.stderr
    assert "rank 0: first NaN" in done.stderr
