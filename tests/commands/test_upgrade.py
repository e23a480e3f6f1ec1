"""`upgrade` as a user runs it: two environments are one, whose Python is started with another variable."""

import json
import os
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.compare.upgrade import upgrade
from inspect_compile.commands import main
from inspect_compile.commands.printing import print_table
from inspect_compile.dump import Dump
from inspect_compile.tables.compare.upgrade import page
from tests.running import COMMAND, run, settle
from tests.stages import KERNEL, LABELS, staged_dump

PROGRAM = """\
import sys
import torch

def f(x):
    return x.sin(), x.cos()

print(sys.argv[1:])
compiled = torch.compile(f)
for _ in range(4):
    compiled(torch.ones(64, 128))
"""
VARIABLE = "TORCHINDUCTOR_CPP_MAX_HORIZONTAL_FUSION_SIZE"
"""Where torch takes a default from: as if it had changed from one version to the next."""

Capture = pytest.CaptureFixture[str]


def environment(path: Path, variable: str) -> Path:
    """An executable that starts our Python with a variable."""
    path.write_text(f'#!/bin/sh\n{variable} exec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return path


def test_a_lost_fusion_is_told_and_comes_back_with_the_old_setting(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "step.py").write_text(PROGRAM)
    new = environment(tmp_path / "python-new", f"{VARIABLE}=0")
    places = ["--old", sys.executable, "--new", str(new), "--dump", "both"]
    words = ["upgrade", *places, "--runs", "1", "--prove", "step.py", "--its", "own"]
    done = run([*COMMAND, *words], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    for name in ("old", "new", "back"):
        settle(tmp_path / "both" / name)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if "['--its', 'own']" in line] == ["['--its', 'own']"] * 3
    assert len(lines) <= 43, "the program's three lines, and a page of 40"
    assert any("time of one call of each graph" in line for line in lines)
    assert any("one run of each: the noise is not known" in line for line in lines)
    assert any(line.startswith("fusion ") and line.endswith("1") for line in lines), done.stdout
    assert any(line.startswith("allocations and frees ") for line in lines), done.stdout
    assert any(line.startswith("guards, Dynamo and wrappers ") for line in lines), done.stdout
    assert any(" ▲ step.py:5  return x.sin(), x.cos()" in line for line in lines)
    assert "Swapped back: cpp.max_horizontal_fusion_size 0 → 16" in lines
    assert any("; 1 of 1 cause gone: fusion at step.py:5" in line for line in lines), done.stdout
    assert lines[-1].endswith("inspect-compile diff both/old both/new")
    said = run([*COMMAND, "diff", "both/old", "both/new", "--json"], tmp_path)
    first = json.loads(said.stdout.splitlines()[0])
    assert (first["fact"], first["level"]) == ("difference_cause", "fusion")
    (left,) = map(json.loads, run([*COMMAND, "diff", "both/old", "both/back", "--json"], tmp_path).stdout.splitlines())
    assert (left["fact"], left["kind"]) == ("difference", "settings"), "the variable itself"


def test_advice_is_given_on_what_costs_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """A kernel that is compiled to something else is a cause, and has advice only if it needs more registers."""
    monkeypatch.setenv("COLUMNS", "160")
    for name, registers in (("same", 16), ("more", 40)):
        one, other = (staged_dump(tmp_path / f"{name}_{side}") for side in ("old", "new"))
        (path,) = other.root.rglob(f"{LABELS[0]}/{KERNEL}.ptx")
        path.write_text(path.read_text().replace("\tret;", "\ttrap;\n\tret;"))
        for table in other.root.rglob("binaries.jsonl"):
            table.write_text(table.read_text().replace('"registers":16', f'"registers":{registers}'))
        found = upgrade([one], [Dump(other.root)], ("old", "new"))
        print_table(page(found, "old", "new"))
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) <= 40
        told, advice = " ".join(" ".join(lines).split()).split("What to do ")
        assert "compiled to another ptx, the first stage that differs" in told
        if registers == 16:
            assert advice.startswith("Nothing with a known cost")
        else:
            assert "report it to Triton" in advice


def test_errors_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "step.py").write_text(PROGRAM)
    bare = tmp_path / "bare"
    bare.write_text('#!/bin/sh\necho \'{"tag": "cpython-399", "missing": [], "versions": {"torch": ""}}\'\n')
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\n")
    other = tmp_path / "other"
    other.write_text('#!/bin/sh\necho \'{"tag": "cpython-399", "missing": ["msgspec"], "versions": {"torch": "9"}}\'\n')
    for path in (bare, silent, other):
        path.chmod(0o755)
    for old, words, told in (
        ("nowhere", ["step.py"], "nowhere: not an environment"),
        ("bare", ["step.py"], "torch is not installed in this environment"),
        ("silent", ["step.py"], "does not behave like a Python"),
        ("other", ["step.py"], "other -m pip install inspect-compile"),
        (sys.executable, ["none.py"], "there is no such script"),
        (sys.executable, [], "no program given"),
        (sys.executable, ["--", "torchrun", "step.py"], "its own Python"),
    ):
        assert main(["upgrade", "--old", old, "--new", sys.executable, *words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert told in line
    assert not os.path.exists("torch_compile_debug")
