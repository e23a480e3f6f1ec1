"""Mistakes in the code of kernels: each that changes a result is found, in its kernel and in no other."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, run

PLANTED: Final = Path(__file__).parent / "programs" / "planted.py"
MATTERS: Final = 10.0
"""A mistake that changes no result of the program by more than this, in units of rounding, is not counted."""
COUNT: Final = 11
"""Mistakes in each program."""

PROGRAMS: Final = (
    *("mlp", "attention", "distances", "pictures", "recurrent", "words", "rotary", "experts"),
    *("block", "graph", "adam", "focal", "scans", "resized", "mlp-half", "pictures-half"),
)


class Outcome(NamedTuple):
    """One mistake, and what was said of it."""

    planted: dict[str, Any]
    """The line that the program printed."""
    matters: bool
    found: bool
    others: tuple[str, ...]
    """Other kernels and passes that are called wrong."""
    statement: bool
    """The edited line is the statement that is called wrong."""

    def __str__(self) -> str:
        row = self.planted
        said = "failed" if "failed" in row else "found" if self.found else "missed"
        said += ", its statement too" if self.statement else ""
        place = f"{row.get('kernel', '')}:{row.get('line', '')}"
        counted = "counted" if self.matters else "changes nothing"
        words = (row["program"], row["fault"], place, row.get("was", ""), counted, said, *self.others)
        return " | ".join(words)


def outcomes(tmp_path: Path, inductor_cache: Path, *words: str) -> list[Outcome]:
    """What `numerics` says of mistakes in programs; those of which the compiled code has none among them."""
    # Edited code must not be taken from a cache, nor put into one.
    off = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), **off}
    done = run([*COMMAND, "numerics", "--dump", "dump", PLANTED, *words], tmp_path, environment=environment)
    assert "the program itself ended" not in done.stderr, done.stderr
    wrong: dict[str, set[str]] = {}
    dump = Dump(tmp_path / "dump")
    for row in judged(dump):
        number = re.match(r"model__(\d+_[a-z]+)_", row.graph)
        if row.verdict == WRONG and number:
            wrong.setdefault(number[1], set()).add(row.kernel or row.level)
    statements = {(row.kernel, row.blamed.line, row.blamed.text) for row in kernel_statements(dump) if row.blamed}
    return [_outcome(json.loads(line), wrong, statements) for line in done.stdout.splitlines()]


def _outcome(row: dict[str, Any], wrong: dict[str, set[str]], statements: set[tuple[str, int, str]]) -> Outcome:
    said = {(graph, kernel) for graph in row.get("graphs", ()) for kernel in wrong.get(graph, ())}
    place = (row.get("graph", ""), row.get("kernel", ""))
    others = tuple(sorted(f"{graph} {kernel}" for graph, kernel in said - {place}))
    # The loaded source begins with an empty line.
    statement = (row.get("kernel", ""), row.get("line", 0) - 1, row.get("was", "")) in statements
    return Outcome(row, row.get("times", 0.0) > MATTERS, place in said, others, statement)


def check(found: list[Outcome], computing: str, record_property: Callable[[str, object], None]) -> None:
    """Each mistake that matters is found in its kernel and nothing else is called wrong; of the statements that begin
    with `computing`, half are named at least.
    """
    for one in found:  # pytest --junit-xml=FILE writes the table
        record_property("mistake", str(one))
    assert [one.others for one in found] == [()] * len(found), "\n".join(map(str, found))
    counted = [one for one in found if one.matters]
    assert len(counted) >= COUNT // 2
    assert [str(one) for one in counted if not one.found] == []
    statements = [one for one in counted if one.planted["was"].startswith(computing)]
    assert sum(one.statement for one in statements) >= len(statements) // 2, "\n".join(map(str, statements))


@pytest.mark.parametrize(
    "words",
    [
        ("distances", "--count", "2"),
        # The parts of a concatenation are written and read by one kernel.
        ("rotary", "--kinds", "not written", "--count", "1"),
    ],
)
def test_a_few(words: tuple[str, ...], tmp_path: Path, inductor_cache: Path) -> None:
    found = outcomes(tmp_path, inductor_cache, *words)

    assert [one.others for one in found] == [()] * len(found), "\n".join(map(str, found))
    counted = [one for one in found if one.matters]
    assert counted
    assert all(one.found for one in counted), "\n".join(map(str, counted))
    computing = [one for one in counted if one.planted["was"].startswith("auto tmp")]
    assert all(one.statement for one in computing), "\n".join(map(str, computing))


@pytest.mark.harmless
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_kernel_with_the_mistake_is_named(
    program: str, tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(tmp_path, inductor_cache, program, "--count", str(COUNT))

    check(found, "auto tmp", record_property)
