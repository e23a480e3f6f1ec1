"""The plugin, in a pytest of its own: what passes, what a failing assertion says, contracts on disk."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running import run

OPTIONS = ("-p", "inspect_compile.testing.plugin", "-p", "no:cacheprovider", "-q", "-o", "addopts=")
TESTS = """\
import torch

def f(x):
    y = x.softmax(-1)
    return (y * 2).sum(-1), y.amax(0)

def g(x):
    print("here")
    return x.relu()

X = torch.ones(256, 256)

def test_good(inspect_compile):
    with inspect_compile.capture() as compiled:
        torch.compile(f)(X)
    compiled.assert_no_graph_breaks()
    compiled.assert_no_recompiles()
    compiled.assert_no_fallback()
    compiled.assert_graphs(at_most=1)
    compiled.assert_kernels(at_most=3, kind="inference")
    compiled.assert_peak(at_most=10_000_000)
    compiled.assert_fused("softmax", "mul")
    compiled.assert_fused("test_step.py:4", "mul")
    compiled.assert_rule("no extern mm")

def test_fused(inspect_compile):
    with inspect_compile.capture() as compiled:
        torch.compile(f)(X)
    compiled.assert_fused("sum", "amax")

def test_kernels(inspect_compile):
    with inspect_compile.capture() as compiled:
        torch.compile(f)(X)
    compiled.assert_kernels(at_most=0)

def test_breaks(inspect_compile):
    with inspect_compile.capture() as compiled:
        torch.compile(g)(X)
    compiled.assert_no_graph_breaks()

def test_inside(inspect_compile):
    with inspect_compile.capture() as compiled:
        compiled.assert_no_graph_breaks()
"""


def in_pytest(folder: Path, cache: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "160"}
    return run([sys.executable, "-m", "pytest", *OPTIONS, *options], folder, environment=environment)


def test_assertions_pass_or_say_why(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "test_step.py").write_text(TESTS)
    told = in_pytest(tmp_path, inductor_cache).stdout
    assert "4 failed, 1 passed" in told, told
    assert "sum and amax are not in one kernel" in told
    assert "Not fused" in told or "apart" in told  # the story that `why` prints
    assert "generated kernel, and the rule is kernels <= 0" in told
    assert "the loops of its kernels:" in told
    assert "test_step.py:8" in told
    assert "builtin operator `print`" in told
    assert "the block of capture() has not ended" in told
    assert "inspect-compile show" in told


def test_a_contract_for_each_test(tmp_path: Path, inductor_cache: Path) -> None:
    test = "import torch\n\ndef f(x):\n    return x.relu()\n\n\ndef test_it(inspect_compile):\n"
    test += "    with inspect_compile.capture():\n        torch.compile(f)(torch.ones(64))\n"
    file = tmp_path / "test_one.py"
    file.write_text(test)
    missing = in_pytest(tmp_path, inductor_cache, "--inspect-compile-lock")
    assert missing.returncode == 1
    assert "pytest --inspect-compile-lock=update writes it" in missing.stdout
    assert in_pytest(tmp_path, inductor_cache, "--inspect-compile-lock=update").returncode == 0
    assert (tmp_path / "compile_locks" / "test_one" / "test_it.lock").is_file()
    assert in_pytest(tmp_path, inductor_cache, "--inspect-compile-lock").returncode == 0
    file.write_text(test.replace("    return x.relu()", "    torch._dynamo.graph_break()\n    return x.relu()"))
    broken = in_pytest(tmp_path, inductor_cache, "--inspect-compile-lock")
    assert broken.returncode == 1
    assert "graph breaks of f: 0 → 1" in broken.stdout
    assert "test_one.py:4" in broken.stdout
    assert "the contract does not have this line" in broken.stdout


def test_a_start_of_pytest_loads_nothing_of_it(tmp_path: Path) -> None:
    """Neither torch nor an analysis: the plugin is loaded wherever this tool is installed."""
    code = """\
import sys
def test_it():
    loaded = [name for name in sys.modules if name.partition(".")[0] in ("torch", "sympy", "msgspec", "textual")]
    ours = sorted(name for name in sys.modules if name.startswith("inspect_compile"))
    assert (loaded, ours) == ([], ["inspect_compile", "inspect_compile.testing", "inspect_compile.testing.plugin"])
"""
    (tmp_path / "test_loaded.py").write_text(code)
    done = in_pytest(tmp_path, tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_rule_that_needs_a_contract_is_refused(tmp_path: Path) -> None:
    from inspect_compile.testing.assertions import Compiled

    compiled = Compiled(tmp_path, "")
    with pytest.raises(ValueError, match="compares with a contract"):
        compiled.assert_rule("peak <= 1.02x")
    with pytest.raises(ValueError, match="compares with a contract"):
        compiled.assert_rule("no change")
