"""`numerics DUMP --causes`: what fixes a wrong graph is named, and nothing else."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.numerics.causes import FIXES, causes
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.settings import SETTINGS
from tests.running import COMMAND, run

PROGRAMS = Path(__file__).parent / "programs"


def planted(tmp_path: Path, cache: Path, *words: str, **more: str) -> dict[str, str | None]:
    """The environment in which the wrong program was checked, whose dump is `tmp_path`/dump."""
    environment: dict[str, str | None] = {"TORCHINDUCTOR_CACHE_DIR": str(cache), "PYTHONPATH": str(PROGRAMS), **more}
    command: list[str | Path] = [*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "mendable.py", *words]
    done = run(command, tmp_path, environment=environment)
    assert done.returncode == 1, done.stderr
    return environment


@pytest.mark.harmless
def test_the_setting_that_fixes_it_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    environment = planted(tmp_path, inductor_cache, WRONG_TANH="1")

    done = run([*COMMAND, "numerics", "dump", "--causes", "--json"], tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    outcomes = {row["change"]: row["outcome"] for row in rows}
    assert [change for change, outcome in outcomes.items() if outcome == FIXES] == ["cpp.simdlen=1"]
    assert outcomes["as it was"] == "still wrong"
    assert outcomes["max_fusion_size=1"] == outcomes["emulate_precision_casts=True"] == "does not fix it"
    assert {row["reason"] for row in rows if row["outcome"] == "not tried"} >= {
        "not on this device",
        "it was already set",
    }
    assert next(row for row in rows if row["change"] == "max_fusion_size=1")["first_launches"] == rows[0]["launches"]
    again = [row.outcome for row in causes(Graphs(Dump(tmp_path / "dump")))]
    assert again == [row["outcome"] for row in rows]
    shown = run([*COMMAND, "show", "dump", "numerics"], tmp_path).stdout
    assert "fixes it: cpp.simdlen=1 (vectorized C++ code)" in shown
    assert '"fact":"counterfactual"' in run([*COMMAND, "show", "dump", "numerics", "--json"], tmp_path).stdout


@pytest.mark.harmless
def test_a_bug_that_no_setting_fixes(tmp_path: Path, inductor_cache: Path) -> None:
    environment: dict[str, str | None] = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    run([*COMMAND, "numerics", "--dump", "dump", PROGRAMS / "kept.py", "summed"], tmp_path, environment=environment)

    done = run([*COMMAND, "numerics", "dump", "--causes"], tmp_path, environment=environment)

    assert done.returncode == 1, done.stderr
    words = " ".join(done.stdout.split())
    assert "no setting fixes it" in words
    how = "write a reproducer with inspect-compile numerics dump --graph model__0_inference_0.0 -o repro.py"
    assert how in words
    assert "fixes it: " not in words


def test_a_fault_of_the_program_alone_is_no_fault_of_the_graph(tmp_path: Path, inductor_cache: Path) -> None:
    environment = planted(tmp_path, inductor_cache, "here")

    done = run([*COMMAND, "numerics", "dump", "--causes"], tmp_path, environment=environment)

    assert done.returncode == 1, done.stderr
    assert "compiled again with the same settings and inputs, it is not wrong" in " ".join(done.stdout.split())
    assert len(list((tmp_path / "dump").glob("replay_*"))) == 1


def test_each_setting_says_what_it_rules_out() -> None:
    assert all(setting.about and setting.config for setting in SETTINGS)
    assert len({tuple(setting.literals().items()) for setting in SETTINGS}) == len(SETTINGS)
