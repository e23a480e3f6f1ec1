"""`capture(numerics=…)`: calls inside the block are checked, with the facts that the command records."""

import math
import subprocess
from pathlib import Path

from inspect_compile.analysis.numerics.verdicts import summary
from inspect_compile.dump import Dump
from inspect_compile.facts import Checked, NumericsCall
from inspect_compile.graph import Graphs
from tests.child.test_capture import table_sizes
from tests.running import COMMAND, plain, run

HEAD = """
import sys, torch, inspect_compile
@torch.compile
def f(x, y):
    return torch.relu(x @ y).sum(-1)
@torch.compile
def g(x):
    return torch.nn.functional.gelu(x).exp()
a, b = torch.randn(8, 16), torch.randn(16, 8)
def is_loaded():
    return any("intervention" in name for name in sys.modules)
"""


def program(folder: Path, code: str, cache: Path) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(HEAD + code)
    return plain(["program.py"], folder, environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)})


def test_the_facts_are_those_of_the_command(tmp_path: Path, inductor_cache: Path) -> None:
    """Also where another capture installed the probes before, without the check."""
    code = """
with inspect_compile.capture("unchecked"):
    g(a)
assert not is_loaded()
with inspect_compile.capture("checked", numerics=True):
    f(a, b), f(a, b)
    g(a)
f(a, b), g(b)
with inspect_compile.capture("again"):
    g(a[:3, :5])
"""
    result = program(tmp_path, code, inductor_cache)

    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    (tmp_path / "alone.py").write_text(f"{HEAD}\nf(a, b), f(a, b)")
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "command", "alone.py"], tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    checked = Dump(tmp_path / "checked")
    assert table_sizes(checked) == table_sizes(Dump(tmp_path / "command"))
    assert (summary(Graphs(checked)).calls, summary(Graphs(checked)).trouble, checked.run.notes) == (1, (), ())
    assert summary(Graphs(checked)).compared > 0
    for name in ("unchecked", "again"):
        dump = Dump(tmp_path / name)
        assert len(dump.graphs()) == 1
        assert not dump.rows(NumericsCall)
        assert not dump.rows(Checked)


def test_a_mapping_says_what_is_checked(tmp_path: Path, inductor_cache: Path) -> None:
    code = """
with inspect_compile.capture("dump", numerics={"calls": [(2, 2), (4, 9)], "repeats": True, "graphs": ["model__0"]}):
    for _ in range(5):
        f(a, b), g(a)
for wrong in ({"call": 3}, {"calls": "all"}, {"nonfinite": True, "continue_with": "reference"}):
    try:
        with inspect_compile.capture(numerics=wrong):
            pass
    except inspect_compile.errors.CommandError as error:
        print(error)
"""
    result = program(tmp_path, code, inductor_cache)

    assert result.returncode == 0, result.stderr
    calls = [row for row in Dump(tmp_path / "dump").rows(NumericsCall) if not row.stage]
    assert [(row.call, row.repeated) for row in calls] == [(2, True), (4, True), (5, True)]
    assert len({row.graph for row in calls}) == 1
    assert "no such option as call; there are: calls, every" in result.stdout
    assert "`$.calls`" in result.stdout
    assert "no reference to continue with" in result.stdout


def test_inside_of_a_run(tmp_path: Path, inductor_cache: Path) -> None:
    code = """
f(a, b)
assert not is_loaded()
with inspect_compile.capture(numerics=True):
    g(a)
g(a)
torch.compile(lambda x: x.sin() + 1)(a)
"""
    (tmp_path / "program.py").write_text(HEAD + code)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "run", "--no-tui", "--dump", "dump", "program.py"], tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    assert len(dump.graphs()) == 3
    assert {row.graph for row in dump.rows(NumericsCall)} == {dump.graphs()[1].graph}


def test_exact_values_of_results_that_can_not_be_wrong(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "program.py").write_text(
        f"{HEAD}torch.manual_seed(0)\na = torch.randn(8, 16)\nwith torch.no_grad():\n    g(a)\n"
    )
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = [
        run([*COMMAND, "numerics", *options, "--dump", name, "program.py"], tmp_path, environment=environment)
        for name, *options in (("near",), ("exact", "--exact"))
    ]

    assert [one.returncode for one in done] == [0, 0], done
    near, exact = (
        [row for row in Dump(tmp_path / name).rows(Checked) if row.level and not row.is_equal]
        for name in ("near", "exact")
    )
    assert [(row.node, row.buffer) for row in near] == [(row.node, row.buffer) for row in exact] != []
    assert all(row.apart is not None and row.rmse is None for row in near)
    assert all(row.apart is None and row.rmse is not None and row.eager_rmse is not None for row in exact)
    # No element differs by more than all together, whose differences from one exact value add up (triangle inequality).
    for one, other in zip(near, exact, strict=True):
        assert one.apart is not None
        assert other.rmse is not None
        assert other.eager_rmse is not None
        assert one.apart <= math.sqrt(8 * 16) * (other.rmse + other.eager_rmse)
