"""On a machine with a CUDA device: what torch measures to choose, against the driver, torch and the code that runs."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Binary, Choice, Chosen, Hook, Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.torch_compat.autotuning import COMBO
from tests.private_names import astray
from tests.running import plain

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")

PROGRAM = Path(__file__).parent / "programs" / "templates.py"


def recorded(folder: Path, *words: str) -> tuple[Dump, dict[str, Any]]:
    """The dump, and what the program printed."""
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(folder / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [*command, str(PROGRAM), *words], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    dump = open_dump(folder / "dump")
    assert astray(dump.rows(Hook)) == {}
    return dump, json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("word", ["", "subproc", "pipelined"])
def test_templates_ask_for_what_the_driver_says(word: str, tmp_path: Path) -> None:
    """Those that torch does not take too; of all of them that could be loaded."""
    if word == "pipelined":  # torch 2.11 waits for the times of those too that could not be compiled
        alone = plain([PROGRAM, word], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "alone")})
        if "KeyError" in alone.stderr and alone.returncode:
            pytest.skip(f"this torch fails: {alone.stderr.splitlines()[0]}")
    dump, said = recorded(tmp_path, word)
    (operation,) = (
        row
        for graph in dump.graphs()
        for row in autotuned(CompiledGraph(dump, graph.graph))
        if row.about == "operation"
    )
    found = {row.label: row for row in operation.choices if row.kind == "triton template" and not row.step}
    known = {name: row for name, row in found.items() if row.registers is not None}

    assert len(said["templates"]) > 5
    # Before Python 3.11.9 torch compiles none beforehand, and a process that measures keeps what it compiled.
    if word == "" or sys.version_info >= (3, 11, 9):
        assert said["templates"].keys() <= known.keys()
    for name, (registers, words, shared) in said["templates"].items():
        if name in known:
            assert (known[name].registers, known[name].spills, known[name].shared) == (registers, 4 * words, shared)
    assert operation.in_worker == (word != "")
    assert operation.source == "measured"
    assert operation.seconds is not None
    assert sum(row.milliseconds is not None for row in operation.choices) > 5
    best = min(
        (row for row in operation.choices if row.milliseconds is not None and not row.step),
        key=lambda row: row.milliseconds or 0.0,
    )
    assert operation.by in ("time", "fusion", "scheduler")
    assert operation.winner == best.label or operation.by == "fusion"
    assert operation.runs is True


def test_parts_of_a_combo_kernel_one_after_the_other(tmp_path: Path) -> None:
    """As often as torch counts; the last word is the configuration that the kernel is launched with."""
    importlib.import_module(COMBO.module)
    if torch_object(COMBO) is None:
        pytest.skip("this torch tries the configurations of a combo kernel all at once")
    dump, said = recorded(tmp_path, "combo")
    combos = [row for row in dump.rows(Kernel) if row.form == "combo"]

    assert said["timed"] > 1
    assert len({row.name for row in combos}) == 1
    tried = [row for row in dump.rows(Choice) if row.step == "sequential"]
    assert len(tried) == said["timed"]
    assert {row.source for row in tried} == {"measured"}
    (chosen,) = (row for row in dump.rows(Chosen) if row.by == "sequential")
    fastest = min((row for row in tried if row.milliseconds is not None), key=lambda row: row.milliseconds or 0.0)
    assert chosen.label == fastest.label
    assert {row.label for row in tried} <= {row.label for row in dump.rows(Binary) if row.kernel == combos[0].name}
