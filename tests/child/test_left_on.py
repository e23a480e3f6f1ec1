"""INSPECT_COMPILE=1 and install(): what is asked for, and what a program that is recorded from inside leaves."""

import os
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

from inspect_compile.child import left_on
from inspect_compile.child.limits.sizes import bytes_of, size_text
from inspect_compile.child.run_config import LEVELS, RunConfig
from inspect_compile.commands.run import Run
from inspect_compile.dump import Dump, open_dump, paths
from inspect_compile.dump.root import default_root
from inspect_compile.facts import Frame, Recompile
from tests.running import last_words, plain, run

EAGER = """
import os, sys, torch
@torch.compile(backend="eager")
def f(x):
    return x + 1
"""
ON = {"INSPECT_COMPILE": "1", "INSPECT_COMPILE_DUMPS": "dumps"}


def test_the_light_copies_are_true() -> None:
    """At interpreter start nothing is imported that has them."""
    import argparse

    assert (left_on.BASE, left_on.LEVELS) == (paths.BASE, LEVELS)
    parser = argparse.ArgumentParser()
    Run().configure(parser)
    (cache,) = (one.choices for one in parser._actions if "--cache" in one.option_strings)
    assert set(cache or ()) == set(left_on.CACHES)
    setting = left_on.from_environment({"INSPECT_COMPILE": "1"})
    assert RunConfig.of(setting.run) == RunConfig(level="facts", keep=20, max_bytes=200 << 20, cache="auto")
    names = default_root(Path.cwd(), os.getpid(), datetime.now()).name, Path(setting.root).name
    assert [len(name) for name in names] == [len(names[0])] * 2
    assert Path(setting.root).parent == Path.cwd() / paths.BASE
    asked = left_on.from_environment({"INSPECT_COMPILE": "live=json", "INSPECT_COMPILE_LIVE_METRICS": "figures"})
    told = RunConfig.of(asked.run)
    assert (told.live, told.live_metrics) == ("json", str(Path.cwd() / "figures"))
    given = {"INSPECT_COMPILE": "on", "INSPECT_COMPILE_KEEP": "3", "INSPECT_COMPILE_MAX_DUMP": "1.5 MB"}
    assert RunConfig.of(left_on.from_environment(given).run) == RunConfig(
        level="facts", keep=3, max_bytes=3 << 19, cache="auto"
    )


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("", "yess", "INSPECT_COMPILE=yess is neither 1 nor 0 nor live"),
        ("_LEVEL", "fact", "INSPECT_COMPILE_LEVEL=fact: no such level; there are facts, texts, all"),
        ("_CACHE", "x", "INSPECT_COMPILE_CACHE=x: no such mode; there are bypass, auto, keep"),
        ("_KEEP", "0", "INSPECT_COMPILE_KEEP=0 is not a number of recompiles; write 1, 2, …"),
        ("_KEEP", "-1", "INSPECT_COMPILE_KEEP=-1 is not a number of recompiles; write 1, 2, …"),
        ("_MAX_DUMP", "big", "INSPECT_COMPILE_MAX_DUMP=big is not a size; write 500MB, 2GB, …"),
        ("_DUMP", "d", f"INSPECT_COMPILE_DUMP is not one of our variables; these are: {', '.join(left_on.OPTIONS)}"),
    ],
)
def test_what_cannot_be_meant_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^INSPECT_COMPILE") as caught:
        left_on.from_environment({"INSPECT_COMPILE": "1", f"INSPECT_COMPILE{name}": value})
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("text", "count"),
    [("500MB", 500 << 20), ("2 GiB", 2 << 30), ("1000", 1000), ("1.5k", 1536), ("", None), (".", None), ("MB", None)],
)
def test_sizes(text: str, count: int | None) -> None:
    assert bytes_of(text) == count
    if count is not None:
        assert bytes_of(size_text(count)) == count


def test_a_program_and_its_children_are_one_run(tmp_path: Path) -> None:
    """Whatever way a child is started, that is watched; each has a part of its own."""
    (tmp_path / "child.py").write_text(f"{EAGER}\nprint(int(f(torch.ones(1))))\n")
    (tmp_path / "script.py").write_text(
        f"{EAGER}\nimport subprocess\nprint(int(f(torch.zeros(1))), flush=True)\n"
        "subprocess.run([sys.executable, 'child.py'], check=True)\n"
        "subprocess.run([sys.executable, 'child.py'], env=dict(os.environ), check=True)\n"
        "pid = os.fork()\n"
        "if not pid:\n    f(torch.ones(2, 2)); sys.exit(0)\n"
        "os.waitpid(pid, 0)\nsys.exit(3)\n"
    )
    alone = plain(["script.py"], tmp_path)
    watched = plain(["script.py"], tmp_path, environment=ON)
    assert (alone.returncode, alone.stdout) == (watched.returncode, watched.stdout) == (3, "1\n2\n2\n")
    (root,) = (tmp_path / "dumps").iterdir()
    dump = Dump(root)
    assert (dump.run.status, dump.run.argv) == ("finished", ("script.py",))
    parts = [Dump(path) for path in dump.other_processes]
    assert len(parts) == 3
    assert [len(part.rows(Frame)) for part in (dump, *parts)] == [1] * 4
    assert not (root / paths.FINISHED).exists()
    lines = last_words(watched.stderr)
    assert lines[0].startswith("inspect-compile: 3 processes that compiled in dumps/run_")
    assert len(lines) == 1


def test_a_long_command_is_not_copied_to_each_child(tmp_path: Path) -> None:
    """No process starts with a variable of 128 kB: neither one of the program's nor the C++ compiler. The record of a
    run whose first process has compiled nothing has the first words, until that one ends.
    """
    (tmp_path / "child.py").write_text(
        f"{EAGER}\nf(torch.ones(1))\nimport json, glob\n"
        "(top,) = glob.glob('dumps/*/run.json')\n"
        "print(json.load(open(top))['argv'][-2:])\n"
    )
    (tmp_path / "script.py").write_text(
        "import os, subprocess, sys, torch\n"
        "print(len(subprocess.run(['env'], capture_output=True, check=True, text=True).stdout), flush=True)\n"
        "subprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    few = ["script.py", *(f"data/file_{number:06d}.bin" for number in range(100))]
    many = ["script.py", *(f"data/file_{number:06d}.bin" for number in range(8000))]
    size, argv = plain(few, tmp_path, environment=ON).stdout.splitlines()
    (root,) = (tmp_path / "dumps").iterdir()
    assert argv.endswith("'…']")
    assert Dump(root).run.argv == tuple(few)
    shutil.rmtree(tmp_path / "dumps")
    size_of_many, argv_of_many = plain(many, tmp_path, environment=ON).stdout.splitlines()
    assert abs(int(size_of_many) - int(size)) < 32  # digits of process ids
    assert argv_of_many == argv
    (root,) = (tmp_path / "dumps").iterdir()
    assert Dump(root).run.argv == tuple(many)


def test_who_compiles_nothing_leaves_and_says_nothing(tmp_path: Path) -> None:
    for code in ("print(1)", "import torch, torch._dynamo, torch._inductor.compile_fx; print(1)"):
        done = run([sys.executable, "-c", code], tmp_path, environment=ON)
        assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_launcher_that_compiles_nothing_has_the_parts_of_those_it_starts(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(f"{EAGER}\nf(torch.ones(1))\n")
    code = "import subprocess, sys; subprocess.run([sys.executable, 'child.py'], check=True)"
    done = run([sys.executable, "-c", code], tmp_path, environment=ON)
    assert done.returncode == 0
    dump = open_dump(tmp_path / "dumps")
    assert (dump.root.parent, dump.run.status) == (tmp_path / "dumps", "finished")
    (part,) = dump.other_processes
    assert len(Dump(part).rows(Frame)) == 1


def test_a_killed_program_leaves_a_dump_that_opens(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"{EAGER}\nf(torch.ones(1))\nos.kill(os.getpid(), 9)\n")
    done = plain(["script.py"], tmp_path, environment=ON)
    assert done.returncode == -9
    assert len(open_dump(tmp_path / "dumps").rows(Frame)) == 1


def test_a_value_that_means_nothing_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        f"{EAGER}\nimport subprocess\nf(torch.ones(1))\nsubprocess.run([sys.executable, '-c', 'import torch'])"
    )
    done = plain(["script.py"], tmp_path, environment={"INSPECT_COMPILE": "1", "INSPECT_COMPILE_KEEP": "few"})
    told = "INSPECT_COMPILE_KEEP=few is not a number of recompiles; write 1, 2, …: nothing is recorded"
    assert (done.returncode, done.stderr) == (0, f"inspect-compile: {told}\n")
    assert not (tmp_path / paths.BASE).exists()


def test_the_command_has_its_own_run(tmp_path: Path) -> None:
    """What it starts is recorded once, where the command says."""
    (tmp_path / "script.py").write_text(f"{EAGER}\nf(torch.ones(1))\n")
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", "dump", "script.py"]
    assert run(command, tmp_path, environment=ON).returncode == 0
    assert len(Dump(tmp_path / "dump").rows(Frame)) == 1
    assert not (tmp_path / "dumps").exists()


INSTALLED = """
import torch._dynamo, inspect_compile
torch._dynamo.config.recompile_limit = 100
def g(x, k):
    return x * k
with inspect_compile.capture("earlier", level="facts"):
    torch.compile(g, backend="eager")(torch.ones(1), "a" == "b")
root = inspect_compile.install("dumps", keep=2)
assert inspect_compile.install() == root
g = torch.compile(g, backend="eager", dynamic=False)
for k in range(12):
    g(torch.ones(1), k)
with inspect_compile.capture() as dump:
    assert dump.path == root
"""


def test_install_after_a_capture_keeps_the_newest(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(EAGER + INSTALLED)
    done = plain(["script.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(Dump(tmp_path / "earlier").rows(Frame)) == 1
    dump = open_dump(tmp_path / "dumps")
    rows = dump.rows(Recompile)
    assert len(rows) == 2
    assert (rows[-1].failed[0].what, rows[-1].failed[0].before, rows[-1].failed[0].after) == ("k", "10", "11")
    told = "--keep 2: the newest 2 of 12 recompiles are kept; earlier ones were dropped"
    assert [one.message for one in dump.run.omitted if one.what == "compiles"] == [told]
    shown = run([sys.executable, "-m", "inspect_compile", "show", str(dump.root), "dynamo"], tmp_path)
    assert f"Incomplete: {told}" in " ".join(shown.stdout.split())


def test_install_refuses_what_does_not_exist() -> None:
    import inspect_compile
    from inspect_compile.errors import CommandError

    with pytest.raises(
        CommandError, match=r"^inspect_compile\.install: LEVEL=x: no such level; there are facts, texts, all$"
    ):
        inspect_compile.install(level="x")  # type: ignore[arg-type]
