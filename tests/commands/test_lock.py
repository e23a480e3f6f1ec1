"""`lock` and `check` as a user runs them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SAMPLES, DumpOf
from tests.running import COMMAND, run

PROGRAM = """\
import sys
import torch

def f(x):
    y = x.relu()
    return y + 1

print(sys.argv[1:])
torch.compile(f)(torch.ones(64))
"""


def called(folder: Path, cache: Path, *words: str | Path, in_ci: bool = False) -> subprocess.CompletedProcess[str]:
    """A command, with or without the variable that CI systems set, and that torch reads."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "GITHUB_WORKSPACE": None, "CI": "true" if in_ci else None}
    return run([*COMMAND, *words], folder, environment=environment)


def test_a_contract_is_made_kept_broken_and_updated(tmp_path: Path, inductor_cache: Path) -> None:
    program = tmp_path / "step.py"
    program.write_text(PROGRAM)
    made = called(tmp_path, inductor_cache, "lock", "step.py", "-o", "my.lock", "--", "-o", "its own")
    assert (made.returncode, made.stdout) == (0, "['-o', 'its own']\n"), made.stderr
    good = called(tmp_path, inductor_cache, "check", "--lock", "my.lock", "step.py", "its", "own", in_ci=True)
    assert good.returncode == 0, good.stdout
    assert good.stdout.startswith("['its', 'own']\nmy.lock: nothing differs that the contract fixes (1 graph, 4 rules)")
    program.write_text(PROGRAM.replace("    return y + 1", "    print('in it')\n    return y + 1"))
    words = ("check", "step.py", "--lock", "my.lock", "--format", "github", "--junit", "j.xml", "--sarif", "s.sarif")
    bad = called(tmp_path, inductor_cache, *words)
    assert bad.returncode == 1, bad.stderr
    assert "graph breaks of f: 0 → 1" in bad.stdout
    assert "::error file=step.py,line=6," in bad.stdout
    assert 'line="6"' in (tmp_path / "j.xml").read_text()
    results = json.loads((tmp_path / "s.sarif").read_text())["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 6}
    dump = next((tmp_path / "torch_compile_debug").iterdir()).parent
    newest = sorted(dump.iterdir(), key=lambda path: path.stat().st_mtime)[-1]
    assert called(tmp_path, inductor_cache, "check", newest, "--lock", "my.lock", "--update").returncode == 0
    again = called(tmp_path, inductor_cache, "check", newest, "--lock", "my.lock")
    assert (again.returncode, again.stderr) == (0, ""), again.stdout
    assert "made with" not in again.stdout
    lock = tmp_path / "my.lock"
    lock.write_text(re.sub(r'(?m)^python = ".*"$', 'python = "3.9.1"', lock.read_text()))
    other = called(tmp_path, inductor_cache, "check", newest, "--lock", "my.lock")
    version = ".".join(map(str, sys.version_info[:3]))
    assert f"the contract was made with python 3.9.1 (now {version})" in other.stdout
    rows = called(tmp_path, inductor_cache, "check", newest, "--lock", "my.lock", "--format", "json")
    assert (rows.returncode, rows.stdout) == (0, "")


@pytest.mark.harmless
@pytest.mark.parametrize("sample", ["flex_attention", "training_step", "dynamic_shapes"])
def test_a_contract_of_ones_own_machine_holds_in_ci(sample: str, tmp_path: Path, inductor_cache: Path) -> None:
    """Where CI is set torch has other settings, other configurations of attention, and compiles anew."""
    program = SAMPLES / f"{sample}.py"
    made = called(tmp_path, inductor_cache, "lock", program, "-o", "my.lock")
    assert made.returncode == 0, made.stderr
    good = called(tmp_path, inductor_cache, "check", program, "--lock", "my.lock", in_ci=True)
    assert good.returncode == 0, good.stdout


def test_errors_are_one_line(tmp_path: Path, dump_of: DumpOf, inductor_cache: Path) -> None:
    dump = dump_of("graph_breaks").dump
    (tmp_path / "fails.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "nothing.py").write_text("")
    assert called(tmp_path, inductor_cache, "lock", dump).returncode == 0
    text = (tmp_path / "compile.lock").read_text()
    (tmp_path / "bad.lock").write_text(text.replace('"no change"', '"no chnage"'))
    for words, told in (
        (("check", dump, "--lock", "none.lock"), "no such contract"),
        (("check", dump, "--lock", "bad.lock"), "rule 'no chnage'"),
        (("check", "fails.py"), "ended with status 3"),
        (("check", "nothing.py"), "nothing was compiled"),
        (("lock",), "no program given"),
        (("lock", dump, "--rule", "kernels"), "a rule is one of"),
        (("check", "none.py"), "no such script"),
    ):
        done = called(tmp_path, inductor_cache, *words)
        assert done.returncode == 2, done.stdout
        assert told in done.stderr.splitlines()[-1], done.stderr


def test_bounds_of_a_dump(tmp_path: Path, dump_of: DumpOf, inductor_cache: Path) -> None:
    dump = dump_of("graph_breaks").dump
    rules = ("graph_breaks <= 1", "no fallback", "kernels.inference <= 3", "fused(relu, mul)", "graphs <= 3")
    for rule in rules:
        words = ("lock", dump, "--rule", rule, "-o", "bounds.lock")
        assert called(tmp_path, inductor_cache, *words).returncode == 0
    done = called(tmp_path, inductor_cache, "check", dump, "--lock", "bounds.lock")
    assert done.returncode == 1
    assert "bounds.lock: 1 difference" in done.stdout
    assert "2 graph breaks, and the rule is graph_breaks <= 1" in done.stdout
