"""Mistakes in the code that calls the kernels: what was loaded is checked, and the line is named."""

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import LoadedLine
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.levels import COMPILED
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, run

PLANTED: Final = Path(__file__).parent / "programs" / "planted_wrappers.py"
OFF: Final = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""Edited code must not be taken from a cache, nor put into one."""


class Outcome(NamedTuple):
    """One mistake, and what was said of it."""

    planted: dict[str, Any]
    """The line that the program printed."""
    wrong: list[Judged]
    """What is called wrong in the graphs of this compile."""
    changed: list[LoadedLine]

    @property
    def is_named(self) -> bool:
        """The edited line is told, and nothing but the launch that it makes is accused."""
        row = self.planted
        lines = {one.line for one in self.wrong if one.kernel}
        is_whole = all(one.level == COMPILED for one in self.wrong)
        is_told = [(one.line, one.generated, one.loaded) for one in self.changed] == [
            (row["line"], row["was"], row["text"])
        ]
        return bool(self.wrong) and is_told and (lines == {row["line"]} if lines else is_whole)


def outcomes(tmp_path: Path, inductor_cache: Path, *words: str) -> tuple[list[Outcome], str]:
    """What `numerics` says of mistakes in programs, and what it prints."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), **OFF}
    done = run([*COMMAND, "numerics", "--dump", "dump", PLANTED, *words], tmp_path, environment=environment)
    assert done.returncode == 1, done.stderr
    dump = Dump(tmp_path / "dump")
    wrong: dict[str, list[Judged]] = {}
    for row in judged(Graphs(dump)):
        if row.verdict == WRONG:
            wrong.setdefault(_number(row.graph), []).append(row)
    changed: dict[str, list[LoadedLine]] = {}
    for line in dump.rows(LoadedLine):
        changed.setdefault(_number(line.graph), []).append(line)
    found = []
    for printed in map(json.loads, done.stdout.splitlines()):
        graphs = printed["graphs"]
        accused = [row for graph in graphs for row in wrong.get(graph, ())]
        found.append(Outcome(printed, accused, [one for graph in graphs for one in changed.get(graph, ())]))
    return found, done.stderr


def _number(graph: str) -> str:
    found = re.match(r"model__(\d+_[a-z]+)_", graph)
    return found[1] if found else ""


def check(found: list[Outcome]) -> None:
    """Each mistake that changes a result is named, and what is right is not accused."""
    for one in found:
        if one.planted["fault"] == "none":
            assert (one.wrong, one.changed) == ([], []), one
        elif one.planted.get("is_wrong", True):
            assert one.is_named, one


def test_a_few(tmp_path: Path, inductor_cache: Path) -> None:
    """Arguments, a launch that is missing, a factor of a library's call, a view, the order of the results."""
    found, told = outcomes(tmp_path, inductor_cache, "layers", "--count", "1")

    check(found)
    kinds = {one.planted["fault"] for one in found if one.planted["is_wrong"]}
    assert kinds == {"offset", "order", "dropped", "beta", "alpha", "view", "results"}
    assert "torch generated: cpp_fused_sin_sub_0(arg0_1, arg1_1, buf0)" in told
    assert "not loaded as torch generated it: the loaded code was checked" in told


@pytest.mark.harmless
def test_all(tmp_path: Path, inductor_cache: Path) -> None:
    """A training step, too."""
    found, _ = outcomes(tmp_path, inductor_cache, "layers", "training", "sizes")

    check(found)
    assert sum(one.planted.get("is_wrong", False) for one in found) >= 25
