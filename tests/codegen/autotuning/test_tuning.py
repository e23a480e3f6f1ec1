"""What torch's autotuning chose, held against what torch itself says of it and what the generated code runs."""

import re
import subprocess
from pathlib import Path

import pytest

from inspect_compile.analysis.kernels.autotuning import Autotuned, autotuned
from inspect_compile.dump import Dump
from inspect_compile.facts import Choice, Chosen, Hook, Kernel, LoopNest
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf, run_once
from tests.private_names import astray
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "tuned.py"
TOLD = re.compile(r"^  (\w+) ([0-9.]+) ms [0-9.]+%", re.MULTILINE)
"""A choice and its time in the table that torch prints of what it measured."""


@pytest.fixture(scope="session")
def tuned(shared_folder: Path, inductor_cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    folder = shared_folder / "tuned"
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder, environment=environment))
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def dump(tuned: subprocess.CompletedProcess[str], shared_folder: Path) -> Dump:
    return Dump(shared_folder / "tuned" / "dump")


def question(dump: Dump, graph: int) -> Autotuned:
    (found,) = autotuned(CompiledGraph(dump, dump.graphs()[graph].graph))
    return found


def test_the_choices_are_those_that_torch_tells_of(tuned: subprocess.CompletedProcess[str], dump: Dump) -> None:
    told = {name: float(time) for name, time in TOLD.findall(tuned.stderr)}
    assert len(told) == 2

    measured = question(dump, 0)

    assert measured.source == "measured"
    assert {row.label: round(row.milliseconds or 0.0, 4) for row in measured.choices} == told
    assert measured.winner == measured.choices[0].label == min(told, key=lambda name: told[name])
    assert (measured.seconds or 0.0) > 0
    assert {row.kind for row in measured.choices} == {"extern", "cpp template"}
    assert astray(dump.rows(Hook)) == {}


def test_only_the_first_compile_measured(tuned: subprocess.CompletedProcess[str], dump: Dump) -> None:
    assert [line.rpartition(" ")[2] for line in tuned.stdout.splitlines()] == ["1", "1"]
    first, second = question(dump, 0), question(dump, 1)
    # torch counts on in the names of its templates.
    times = [[(row.kind, row.milliseconds) for row in found.choices] for found in (first, second)]
    assert times[0] == times[1]
    assert (second.source, second.seconds) == ("cached", None)
    assert {row.source for row in second.choices} == {"cached"}
    assert first.margin == second.margin


def test_the_winner_is_what_the_generated_code_runs(dump: Dump) -> None:
    for index, graph in enumerate(dump.graphs()):
        found = question(dump, index)
        (kernel,) = (row for row in dump.rows(Kernel, graph.graph) if found.operation in row.operations)
        code = (dump.text(graph.graph, "output_code.py") or "").splitlines()
        assert found.runs is True
        assert found.kernel == kernel.name
        assert found.by == "time"
        assert any(found.winner in code[line - 1] or kernel.form == "template" for line in kernel.launches)
        assert set(found.nodes) <= set(kernel.nodes)


def test_each_row_is_of_a_question(dump: Dump) -> None:
    assert len(dump.rows(Choice)) == 4
    assert [row.tuning for row in dump.rows(Chosen)] == [0, 1]


def test_loops_are_those_of_the_source(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("softmax_mlp").dump)
    nests = dump.rows(LoopNest)
    kernels = {(row.graph, row.name): row for row in dump.rows(Kernel) if row.kind == "cpp"}

    assert {(nest.graph, nest.kernel) for nest in nests} == kernels.keys()
    for key, kernel in kernels.items():
        source = dump.text(kernel.graph, kernel.source) or ""
        mine = [nest for nest in nests if (nest.graph, nest.kernel) == key]
        loops = [loop for nest in mine for part in (nest.loops, *nest.inside) for loop in part]
        steps = [int(step) for step in re.findall(r"x\d+\+=(?:static_cast<int64_t>\()?(\d+)", source)]
        assert sorted(int(loop.step) for loop in loops) == sorted(steps)
        assert sum(nest.depth > 0 for nest in mine) == len(re.findall(r"#pragma omp for", source))
        assert any(nest.vector is not None for nest in mine) == ("at::vec::Vectorized" in source)
        assert all(nest.why == "" for nest in mine if nest.vector is not None)
        assert kernel.form == "C++"
