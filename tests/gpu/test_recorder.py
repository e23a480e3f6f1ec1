"""On a machine with a CUDA device: the recorder's flags, plain and around CUDA graphs, with and without waiting."""

from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.nonfinite import flagged_calls, nonfinite_rows
from inspect_compile.analysis.runtime.cudagraphs import cudagraphs
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from tests.lowering.intervention.test_recorder import BAD, PROGRAM, STEPS, code, kinds
from tests.running import COMMAND, plain, run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
@pytest.mark.parametrize("kind", ["forward", "backward", "saved", "half", "nothing"])
def test_the_step_that_goes_wrong(kind: str, mode: str, tmp_path: Path) -> None:
    words: list[str | Path] = [PROGRAM, kind, "--device", "cuda", "--mode", mode]
    alone = plain(words, tmp_path)

    done = run([*COMMAND, "numerics", "--recorder", "--dump", "dump", *words], tmp_path)

    assert (done.returncode, done.stdout) == (0 if kind == "nothing" else 1, alone.stdout), done.stderr
    dump = Dump(tmp_path / "dump")
    graphs, rows = kinds(dump), list(nonfinite_rows(Graphs(dump)))
    forward, backward = graphs["forward"].graph, graphs["backward"].graph
    flagged = {row.graph: row for row in flagged_calls(Graphs(dump))}
    for seen in flagged.values():
        assert (seen.calls, seen.examinable, seen.reason) == (STEPS, STEPS, ""), done.stderr
    if mode == "reduce-overhead":
        assert sum(row.replayed for row in cudagraphs(Graphs(dump)) if row.graph in (forward, backward)) > 0
    if kind == "nothing":
        assert (rows, {row.flagged for row in flagged.values()}) == ([], {0})
        return
    assert flagged[backward].first == BAD
    assert all((row.call, row.step, row.reason, row.came_in) == (BAD, BAD, "", "") for row in rows), done.stderr
    assert rows[-1].kind == "NaN"
    lines = {
        "forward": "h = h * torch.log(level)",
        "backward": "h = h + torch.sqrt((level - 1) * self.scale)",
        "saved": "product = (x * level) @ self.up.weight.t()",
        "half": "product = (x * level).half() @ (10 * self.up.weight.t()).half()",
    }
    assert code(rows[0]) == lines[kind], done.stderr
    assert rows[-1].graph == (backward if kind in ("backward", "saved") else forward)


NO_WAITING = """
import torch

@torch.compile
def step(x, weight):
    return (x @ weight).relu()

x, weight = torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda", requires_grad=True)
for _ in range(3):
    step(x, weight).sum().backward()
torch.cuda.synchronize()
with torch.no_grad():
    weight.grad = None
torch.cuda.set_sync_debug_mode("error")
for _ in range(3):
    x = x * 1.0
    step(x, weight).sum().backward()
    with torch.no_grad():
        weight.sub_(weight.grad, alpha=1e-3)
torch.cuda.set_sync_debug_mode("default")
print("done")
"""


def test_nothing_waits_for_the_device_within_a_step(tmp_path: Path) -> None:
    """torch raises an error where the host waits: reading a flag that is there, and copying inputs, does not."""
    (tmp_path / "steps.py").write_text(NO_WAITING)

    done = run([*COMMAND, "numerics", "--recorder", "--dump", "dump", "steps.py"], tmp_path)

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert {(row.calls, row.examinable) for row in flagged_calls(Graphs(Dump(tmp_path / "dump")))} == {(6, 6)}


OWN_GRAPH = """
import torch

@torch.compile
def f(x):
    return torch.log(x).sum()

x = torch.ones(8, device="cuda")
for _ in range(3):
    f(x)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.no_grad(), torch.cuda.graph(graph):
    y = f(x)
x.fill_(2.0)
graph.replay()
print(round(y.item(), 3))
"""


def test_graphs_that_the_program_records_itself(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN_GRAPH)

    done = run([*COMMAND, "numerics", "--recorder", "--dump", "dump", "own.py"], tmp_path)

    assert (done.returncode, done.stdout) == (0, f"{8 * 0.6931472:.3f}\n"), done.stderr
    assert "CUDA graph of the program's own" in done.stderr
