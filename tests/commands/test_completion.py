"""Tab in a real shell: what it offers for commands, dumps, tables, graphs, kernels and options."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.tables import PAGES, TABLES
from tests.conftest import DumpOf
from tests.running import COMMAND, run

Offer = Callable[[str], list[str]]

PRESS_TAB = """
eval "$(inspect-compile completion bash)"
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9 COMP_KEY=9
read -ra COMP_WORDS <<< "$1"
case "$1" in *" ") COMP_WORDS+=("");; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_python_argcomplete inspect-compile
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def recorded(dump_of: DumpOf) -> Dump:
    return Dump(dump_of("softmax_mlp", "--device", "cpu").dump)


@pytest.fixture
def offered(recorded: Dump, tmp_path: Path) -> Offer:
    """What Tab offers behind a line, in a folder with a dump and a script."""
    shutil.copytree(recorded.root, tmp_path / "mine")
    (tmp_path / "train.py").touch()
    command = tmp_path / "bin" / "inspect-compile"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m inspect_compile "$@"\n')
    command.chmod(0o755)

    def pressed(line: str) -> list[str]:
        done = run(["bash", "-c", f'PATH="{command.parent}:$PATH"{PRESS_TAB}', "bash", line], tmp_path, environment={})
        assert (done.returncode, done.stderr) == (0, "")
        return [word.rstrip() for word in done.stdout.splitlines() if word]

    return pressed


def test_commands_and_scripts(offered: Offer) -> None:
    assert offered("inspect-compile sh") == ["show", "share"]
    assert "train.py" in offered("inspect-compile ")
    assert offered("inspect-compile run tra") == ["train.py"]
    assert offered("inspect-compile run --measu") == ["--measure"]
    assert offered("inspect-compile completion ") == ["bash", "zsh", "fish"]


def test_what_a_dump_holds(offered: Offer, recorded: Dump) -> None:
    kernels = list(dict.fromkeys(row.name for row in recorded.rows(Kernel)))
    graphs = [graph.graph for graph in recorded.outermost()]
    assert offered("inspect-compile show m") == ["mine", "memory", "measured", "metrics"]
    assert offered("inspect-compile show mine ") == [*TABLES, *PAGES]
    assert offered("inspect-compile show mine kernel ") == kernels
    assert offered(f"inspect-compile show mine kernel {kernels[0][:-1]}")[0] == kernels[0]
    assert offered("inspect-compile show mine nodes --graph ") == graphs
    assert offered("inspect-compile draw mine ") == [*KINDS]
    assert offered("inspect-compile name mine ") == kernels
    assert offered("inspect-compile diff mi") == ["mine"]
    assert "nothing" not in offered("inspect-compile show nothing --graph ")


@pytest.mark.parametrize(("shell", "mark"), [("bash", "complete "), ("zsh", "compdef "), ("fish", "complete ")])
def test_each_shell_gets_its_own_lines(shell: str, mark: str, tmp_path: Path) -> None:
    done: subprocess.CompletedProcess[str] = run([*COMMAND, "completion", shell], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert any(line.strip().startswith(mark) for line in done.stdout.splitlines())
