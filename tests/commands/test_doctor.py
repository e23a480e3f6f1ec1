"""`doctor`: what is missing is named, with what to do about it."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.running import COMMAND, run


def lines(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """What was looked for → mark and text."""
    table = [line for line in result.stdout.partition("\n\n")[0].splitlines() if line]
    return {line[4:17].strip(): line for line in table}


def test_here_it_is_ready(tmp_path: Path) -> None:
    result = run([*COMMAND, "doctor"], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    found = lines(result)
    assert [*found] == [
        "python",
        "Python.h",
        "torch",
        "triton",
        "packages",
        "C++ compiler",
        "device",
        "CPU roof",
        "dot",
        "terminal",
    ]
    assert all(found[what].startswith("ok ") for what in ("python", "torch", "packages", "C++ compiler"))
    assert "within 2.11–2.15" in found["torch"]
    assert found["terminal"].startswith("-- ")
    assert result.stdout.endswith("\nReady: inspect-compile SCRIPT records a program.\n")


def test_it_loads_neither_torch_nor_the_tui(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom inspect_compile.commands import main\nmain(['doctor'])\n"
        "print([name for name in ('torch', 'sympy', 'textual', 'rich', 'msgspec', 'wrapt') if name in sys.modules])"
    )
    result = run([sys.executable, "-c", code], tmp_path)
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_cpu_that_was_not_measured_is_told(tmp_path: Path) -> None:
    result = run([*COMMAND, "doctor"], tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path)})
    assert "not measured" in lines(result)["CPU roof"]
    assert "doctor --measure" in lines(result)["CPU roof"]


@pytest.mark.harmless
def test_it_measures_the_cpu_and_keeps_that(tmp_path: Path) -> None:
    for words in (("--measure",), ()):
        result = run([*COMMAND, "doctor", *words], tmp_path, environment={"XDG_CACHE_HOME": str(tmp_path)})
        assert re.search(r"GB/s, float32 [\d,]+ GFLOP/s", result.stdout)
    assert [path.name for path in (tmp_path / "inspect-compile").iterdir()] == ["roof.json"]


def test_without_tools_it_says_what_to_install(tmp_path: Path) -> None:
    result = run([*COMMAND, "doctor"], tmp_path, environment={"PATH": str(tmp_path), "CXX": None})
    found = lines(result)
    assert result.returncode == 1
    assert found["C++ compiler"].startswith("NO ")
    assert "apt-get install g++" in found["C++ compiler"]
    assert "apt-get install graphviz" in found["dot"]
    assert "Not ready: C++ compiler." in result.stdout


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a g++ to suggest")
def test_a_compiler_that_is_there_but_not_asked_for_is_suggested(tmp_path: Path) -> None:
    result = run([*COMMAND, "doctor"], tmp_path, environment={"CXX": "/no/compiler"})
    assert "/no/compiler does not run; CPU kernels need it (export CXX=g++)" in lines(result)["C++ compiler"]
    assert result.returncode == 1


def test_another_torch_is_judged_by_its_version_and_build(tmp_path: Path) -> None:
    """The metadata of a package, as pip leaves it."""
    for version, cuda, exit_code, says in (
        ("2.10.1+cu126", "'12.6'", 1, "2.11 is the oldest that works"),
        ("2.99.0+cu126", "'12.6'", 0, "newer than the newest tested, 2.15"),
        ("2.12.0+cu126", "'12.6'", 0, "CUDA 12.6 build, within 2.11–2.15"),
        ("2.12.0", "None", 0, "CPU build, within 2.11–2.15"),
    ):
        site = tmp_path / version
        (site / f"torch-{version}.dist-info").mkdir(parents=True)
        (site / f"torch-{version}.dist-info" / "METADATA").write_text(f"Name: torch\nVersion: {version}\n")
        (site / "torch").mkdir()
        (site / "torch" / "version.py").write_text(f"cuda: Optional[str] = {cuda}\nhip: Optional[str] = None\n")
        result = run([*COMMAND, "doctor"], tmp_path, environment={"PYTHONPATH": str(site)})
        assert says in lines(result)["torch"]
        assert result.returncode == exit_code


def test_a_gpu_is_found_through_its_own_tool(tmp_path: Path) -> None:
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 'NVIDIA H200, 9.0'\n")
    tool.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    device = lines(run([*COMMAND, "doctor"], tmp_path, environment={"PATH": path}))["device"]
    assert "NVIDIA H200 (sm_90)" in device


def test_a_tool_that_hangs_does_not_hang_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_compile.commands import doctor

    tool = tmp_path / "dot"
    tool.write_text("#!/bin/sh\nexec sleep 60\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(doctor, "SECONDS", 0.3)
    began = time.monotonic()
    (finding,) = doctor.look_at_dot()
    assert time.monotonic() - began < 5
    assert not finding.is_fine
