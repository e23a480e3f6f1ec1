"""Mistakes above the kernels, in programs that change inputs, share memory, call custom operators, `torch.func` and
higher-order operators, and compute in float32 within bfloat16: each is named by the level that makes it, and nothing
else is called wrong.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from inspect_compile.analysis.numerics.coverage import uncompared
from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics import levels
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, run

PLANTED: Final = Path(__file__).parent / "programs" / "planted_stages.py"
OFF: Final = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
"""What a changed pass gives must not be taken from a cache, nor put into one."""
LEVELS: Final = {"dynamo": levels.DYNAMO, "backend": levels.BACKEND, "decomposition": levels.AOT}
"""Stage → the level that is to be named; passes have names of their own."""
LOWERING: Final = "lowering"
FEW: Final = (
    "pushed:post_grad_custom_post_pass:dropped write",
    "viewed:backend:dropped clone",
    "branches:pre_grad_custom_pass:swapped",
    "loop:joint_custom_post_pass:other result",
    "half_norm:pre_grad_custom_pass:slightly larger",
    "half_attention:decomposition:aten._softmax.default",
    "backward_writes:joint_custom_post_pass:dropped write",
    "backward_writes:pre_grad_custom_pass:returned input",
    "pushed:lowering:aten.cos.default",
    "half_norm:lowering:aten.sub.Tensor",
    "half_rotary:lowering:aten.sin.default",
    "flexible:backend:swapped",
)
KINDS: Final = {
    "changed inputs": ("counted", "normed", "stepped", "cached", "pushed", "backward_writes", "--count", "8"),
    "aliases": ("copies", "viewed", "in_parts", "--count", "8"),
    "custom operators": (
        *("plain_operator", "trained_operator", "changing_operator", "exchanging_operator", "--count", "7"),
    ),
    "functorch": ("functional", "forward_mode", "mapped", "--count", "8"),
    "higher-order operators": (
        *("branches", "loop", "scanned", "over", "summed", "regions", "flexible", "recomputed", "--count", "6"),
    ),
    "float32 in bfloat16": ("half_norm", "half_rotary", "half_attention", "half_trained", "--count", "8"),
}


class Outcome(NamedTuple):
    """One mistake, and what was said of it."""

    planted: dict[str, Any]
    """The line that the program printed."""
    wrong: tuple[Judged, ...]
    """What is called wrong in the graphs of this compile."""
    lines: tuple[int, ...]
    """The lines of the program that are named with that."""
    status: int
    """What the exit status would be, if this were the whole program."""

    @property
    def is_right(self) -> bool:
        """Nothing was planted."""
        return bool(self.planted["edit"] == "none")

    @property
    def is_counted(self) -> bool:
        """It changes what the calls leave behind by more than rounding."""
        return bool(self.planted.get("apart", 0.0) > 1 or self.planted.get("shared"))

    @property
    def named(self) -> set[str]:
        """The levels and kernels that are called wrong."""
        return {row.kernel or row.level for row in self.wrong} - {levels.CALL}

    @property
    def is_level(self) -> bool:
        """The level with the mistake is named, and no other."""
        stage = self.planted["stage"]
        if stage == LOWERING:
            return len(self.named) == 1 and all(row.kernel or row.level == levels.LOWERING for row in self.wrong)
        return self.named == {LEVELS.get(stage, stage)}

    @property
    def is_line(self) -> bool:
        """The line that the mistake is about is among those that are named."""
        return self.planted["line"] in self.lines

    def __str__(self) -> str:
        row = self.planted
        said = f"status {self.status}, {', '.join(sorted(self.named)) or 'nothing'} wrong, at {self.lines}"
        place = f"{row.get('stage', '')} | {row['edit']} | {row.get('node', '')}, line {row.get('line')}"
        size = row.get("failed") or f"{row.get('apart', 0.0):.3g} {row.get('shared') or ''}"
        return f"{row['kind']} | {row['program']} | {place} | {size} | {said}"


def outcomes(tmp_path: Path, inductor_cache: Path, *words: str) -> list[Outcome]:
    """What `numerics` says of mistakes in programs, and of these without any."""
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), **OFF}
    options = [word for word in words if word == "--eager"]
    rest = [word for word in words if word not in options]
    done = run([*COMMAND, "numerics", *options, "--dump", "dump", PLANTED, *rest], tmp_path, environment=environment)
    assert done.returncode == 1, done.stderr
    return found_in(Dump(tmp_path / "dump"), [json.loads(line) for line in done.stdout.splitlines()])


def found_in(dump: Dump, planted: list[dict[str, Any]]) -> list[Outcome]:
    wrong: dict[str, list[Judged]] = {}
    for row in judged(Graphs(dump)):
        if row.verdict == WRONG:
            wrong.setdefault(_number(row.graph), []).append(row)
    lines: dict[str, set[int]] = {}
    for rows in wrong.values():
        for row in rows:
            if row.where is not None and row.level != levels.CALL:
                lines.setdefault(_number(row.graph), set()).add(row.where.line)
    for statements in kernel_statements(Graphs(dump)):
        if statements.blamed is not None and statements.blamed.where is not None:
            lines.setdefault(_number(statements.graph), set()).add(statements.blamed.where.line)
    left_out = {_number(one.graph) for one in uncompared(Graphs(dump))}
    found = []
    for at, printed in enumerate(planted, start=1):
        graphs = [*printed["graphs"], f"compile {at}"]
        accused = tuple(row for graph in graphs for row in wrong.get(graph, ()))
        told = tuple(sorted({line for graph in graphs for line in lines.get(graph, ())}))
        status = 1 if accused else 3 if not printed["graphs"] or any(graph in left_out for graph in graphs) else 0
        found.append(Outcome(printed, accused, told, status))
    return found


def _number(graph: str) -> str:
    """What the program prints of a graph; of one without operations, for which there is no code, its compile."""
    if found := re.match(r"model__(\d+_[a-z]+)_", graph):
        return found[1]
    found = re.match(r"\d+/\d+(?:_\d+)?(?:#(\d+))?", graph)
    return f"compile {found[1] or 1}" if found else ""


def check(found: list[Outcome], record_property: Callable[[str, object], None]) -> list[Outcome]:
    """The mistakes that matter. What is right is not accused, and what is wrong is not called right."""
    for one in found:  # pytest -o junit_family=xunit1 --junit-xml=FILE writes the table
        record_property("mistake", str(one))
    assert [str(one) for one in found if one.is_right and one.wrong] == []
    counted = [one for one in found if not one.is_right and one.is_counted]
    assert [str(one) for one in counted if one.status == 0] == []
    return counted


def test_a_few(tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]) -> None:
    """A write that is left out, in a backward, too, a result in the memory of an input, nested graphs, a graph that
    nothing is left of, a decomposition and a pass in float32 within bfloat16; lowerings whose values the same kernel
    reads again, broadcasts, or takes for those of another node.
    """
    found = outcomes(tmp_path, inductor_cache, *FEW)

    counted = check(found, record_property)
    assert len(counted) == len(FEW)
    assert [str(one) for one in counted if not one.is_level or not one.is_line] == []


@pytest.mark.harmless
@pytest.mark.parametrize("kind", KINDS)
def test_the_level_with_the_mistake_is_named(
    kind: str, tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(tmp_path, inductor_cache, *KINDS[kind])

    counted = check(found, record_property)
    assert len(counted) >= 0.5 * sum(not one.is_right for one in found)
    assert sum(one.is_level for one in counted) >= 0.95 * len(counted), "\n".join(map(str, counted))
