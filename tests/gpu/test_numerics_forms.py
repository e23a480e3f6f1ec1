"""On a machine with a CUDA device: NaN, results that differ each time, reproducers, causes, the reference's results."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.numerics.causes import causes
from inspect_compile.analysis.numerics.kept import kept_launches
from inspect_compile.analysis.numerics.nonfinite import nonfinite_rows
from inspect_compile.analysis.numerics.verdicts import judged, summary
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from tests.running import COMMAND, run

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

ROOT = Path(__file__).resolve().parents[2]
ON_DEVICE = (ROOT / "benchmarks" / "programs" / "on_device.py", "cuda")
PROGRAMS = ROOT / "tests" / "lowering" / "intervention" / "programs"
ADDED = """
import torch
torch.manual_seed(0)
at, values = torch.randint(0, 8, (2**20,), device="cuda"), torch.randn(2**20, device="cuda")

@torch.compile
def added(at, values):
    return torch.zeros(8, device="cuda").index_add(0, at, values * 1.1)

print(added(at, values).shape)
"""


def numerics(where: Path, cache: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return run([*COMMAND, "numerics", *words], where, environment={"TORCHINDUCTOR_CACHE_DIR": str(cache)})


def test_what_makes_nan_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    done = numerics(
        tmp_path, inductor_cache, "--nonfinite", "--dump", "dump", *ON_DEVICE, PROGRAMS / "not_finite.py", "random"
    )

    assert done.returncode == 1, done.stderr
    rows = list(nonfinite_rows(Graphs(Dump(tmp_path / "dump"))))
    assert [(row.kind, row.node) for row in rows if not row.came_in] == [
        ("NaN", "sub_tensor"),  # the softmax is computed in one go, as Triton kernels do
        ("NaN", "log"),
        ("Inf", "exp"),
        ("Inf", "div"),
        ("NaN", "log"),
    ], done.stderr
    assert all(row.statement for row in rows if row.node in ("sub_tensor", "exp")), rows
    assert sum(1 for row in rows if row.came_in) == 1


def test_atomic_additions_differ_each_time(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "added.py").write_text(ADDED, "utf-8")

    done = numerics(tmp_path, inductor_cache, "--deterministic", "--dump", "dump", "added.py")

    assert done.returncode == 1, done.stderr
    found = summary(Graphs(Dump(tmp_path / "dump")))
    assert (found.wrong, found.trouble) == (0, ())
    assert {row.node for row in judged(Graphs(Dump(tmp_path / "dump"))) if row.measured.unstable} == {"index_put"}
    assert found.unstable_results == 1


def test_what_is_the_same_each_time(tmp_path: Path, inductor_cache: Path) -> None:
    done = numerics(tmp_path, inductor_cache, "--deterministic", "--dump", "dump", *ON_DEVICE, PROGRAMS / "forms.py")

    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> Path:
    """A dump of the check of programs with a wrong relu."""
    here = tmp_path_factory.mktemp("checked")
    done = numerics(here, inductor_cache, "--dump", "dump", *ON_DEVICE, PROGRAMS / "kept.py")
    assert (done.returncode, done.stdout) == (1, "done\n"), done.stderr
    return here / "dump"


@pytest.mark.parametrize("number", range(6))
def test_a_script_makes_the_wrong_launch_again(
    number: int, checked: Path, tmp_path: Path, inductor_cache: Path
) -> None:
    done = numerics(tmp_path, inductor_cache, checked, "--graph", f"model__{number}", "-o", "repro.py")

    assert done.returncode == 0, done.stderr
    again = subprocess.run(
        [sys.executable, "repro.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    assert again.returncode == 1, again.stdout + again.stderr
    found = next(one for one in kept_launches(Dump(checked)) if f"model__{number}" in one.inputs.graph).found
    assert f"{found.node}[" in again.stdout
    mended = (tmp_path / "repro.py").read_text("utf-8")
    assert "triton" in mended


def test_no_setting_fixes_a_bug(checked: Path, tmp_path: Path, inductor_cache: Path) -> None:
    done = numerics(tmp_path, inductor_cache, checked, "--causes", "--graph", "model__0")

    outcomes = {row.change: row.outcome for row in causes(Graphs(Dump(checked)))}
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert outcomes["as it was"] == "still wrong", outcomes
    assert set(outcomes.values()) <= {"still wrong", "does not fix it", "not tried"}, outcomes
    assert "no setting fixes it" in " ".join(done.stdout.split())


def test_the_program_gets_the_reference(tmp_path: Path, inductor_cache: Path) -> None:
    options = ("--calls", "all", "--continue-with", "reference", "--dump", "dump")

    done = numerics(tmp_path, inductor_cache, *options, *ON_DEVICE, PROGRAMS / "continued.py")

    names = ("in_place", "aliases", "strided", "random", "training")
    assert (done.returncode, done.stdout.splitlines()) == (1, [f"{name} True" for name in names]), done.stderr
    found = summary(Graphs(Dump(tmp_path / "dump")))
    assert (found.trouble, found.not_continued) == ((), {})
