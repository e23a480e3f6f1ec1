"""`capture`: the same facts inside a process, while it is open."""

import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import TABLES, CacheLookup, Graph, Hook, Imported, Timed, TimerBegan
from tests.running import inspected, plain

HEAD = """
import sys, torch, inspect_compile
@torch.compile
def f(x, y):
    return torch.relu(x @ y).sum(-1)
a, b = torch.ones(8, 16), torch.ones(16, 8)
"""


def program(folder: Path, code: str, cache: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(HEAD + code)
    return plain([*options, "program.py"], folder, environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)})


def table_sizes(dump: Dump) -> dict[str, int]:
    kinds = {kind for kinds in TABLES.values() for kind in kinds} - {
        Hook,
        Imported,
        Timed,
        TimerBegan,
        *TABLES["processes"],
        *TABLES["stretches"],
    }  # what is imported, which stages begin, and what processes do outside of the block differs
    return {kind.__name__: len(dump.rows(kind)) for kind in kinds}


def test_it_sees_what_a_run_sees(tmp_path: Path, inductor_cache: Path) -> None:
    """Also where torch's compiler was loaded, and used, before."""
    code = """
torch.compile(lambda x: x.cos())(a)
with inspect_compile.capture("captured") as dump:
    f(a, b)
assert len(dump.graphs()) == 1 and dump.run.status == "finished" and str(dump.path).endswith("captured"), dump.run
torch.compile(lambda x: x.sin())(a)
"""
    result = program(tmp_path, code, inductor_cache)
    assert (result.returncode, result.stdout) == (0, "")
    assert "Warning" not in result.stderr
    (tmp_path / "alone.py").write_text(f"{HEAD}\nf(a, b)")
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    inspected(["alone.py"], tmp_path, environment=environment)
    assert table_sizes(Dump(tmp_path / "captured")) == table_sizes(Dump(tmp_path / "dump"))


def test_nothing_left_to_see_is_told_and_recompiling_helps(tmp_path: Path, inductor_cache: Path) -> None:
    code = """
with inspect_compile.capture("empty"):
    pass
f(a, b)
with inspect_compile.capture("first"):
    f(a, b)
with inspect_compile.capture("second", recompile=True):
    f(a, b)
"""
    result = program(tmp_path, code, inductor_cache)
    said = (
        "inspect_compile.capture saw nothing: everything in it was compiled before; capture(recompile=True)"
        " compiles it again"
    )
    assert result.returncode == 0
    assert f"UserWarning: {said}" in result.stderr
    assert "inspect_compile.capture saw nothing: torch.compile was never called" in result.stderr
    assert result.stderr.count("Warning") == 2
    first, second = Dump(tmp_path / "first"), Dump(tmp_path / "second")
    assert first.run.notes == (said,)
    assert (len(first.graphs()), len(second.graphs()), second.run.notes) == (0, 1, ())


@pytest.mark.harmless
def test_caches_are_passed_over_only_while_it_is_open(tmp_path: Path, inductor_cache: Path) -> None:
    code = """
from torch._dynamo.utils import counters
def hits():
    return counters["inductor"]["fxgraph_cache_hit"] + counters["aot_autograd"]["autograd_cache_hit"]
f(a, b)
before = hits()
for index in range(2):
    torch._dynamo.reset()
    with inspect_compile.capture(f"c{index}"):
        f(a, b)
while_open = hits() - before
torch._dynamo.reset()
f(a, b)
print(while_open, hits() > before)
"""
    result = program(tmp_path, code, inductor_cache)
    assert result.stdout == "0 True\n"
    for name in ("c0", "c1"):
        dump = Dump(tmp_path / name)
        assert len(dump.graphs()) == 1
        assert {lookup.outcome for lookup in dump.rows(CacheLookup)} == {"passed over"}


@pytest.mark.harmless
def test_an_exception_passes_and_is_recorded(tmp_path: Path, inductor_cache: Path) -> None:
    code = """
try:
    with inspect_compile.capture("c"):
        f(a, b)
        raise KeyError("mine")
except KeyError as error:
    print(error)
try:
    with inspect_compile.capture("c"):
        pass
except inspect_compile.errors.CommandError as error:
    print(error)
with inspect_compile.capture("d"):
    try:
        with inspect_compile.capture("e"):
            pass
    except RuntimeError as error:
        print(error)
    torch.compile(lambda x: x + 1)(a)
"""
    result = program(tmp_path, code, inductor_cache)
    lines = result.stdout.splitlines()
    assert lines[0] == "'mine'"
    assert lines[1].endswith(
        f"{tmp_path}/c: holds a dump already; name a new directory, or look at this one:"
        f" inspect-compile show {tmp_path}/c"
    )
    assert lines[2] == "inspect_compile.capture: another capture of this process is open; they cannot be nested"
    run = Dump(tmp_path / "c").run
    assert (run.status, run.exception) == ("raised", "KeyError: 'mine'")
    assert len(Dump(tmp_path / "d").rows(Graph)) == 1
    assert not (tmp_path / "e").exists()


@pytest.mark.harmless
def test_inside_a_run_the_dump_of_the_run_goes_on(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "program.py").write_text(
        f"{HEAD}\nwith inspect_compile.capture() as dump:\n    f(a, b)\nprint(dump.path, len(dump.graphs()))"
    )
    result = inspected(["program.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    assert result.stdout == f"{tmp_path / 'dump'} 1\n"


@pytest.mark.parametrize("code", ["import inspect_compile", "import inspect_compile; inspect_compile.capture"])
def test_importing_it_does_not_import_torch(code: str, tmp_path: Path) -> None:
    check = f"{code}\nimport sys; print('torch' in sys.modules, 'torch._dynamo' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "False False\n"
