"""Mistakes in the code of kernels: each that changes a result is found, in its kernel and in no other."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from inspect_compile.analysis.numerics.statements import kernel_statements
from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics import error_kinds as kinds
from inspect_compile.knowledge.numerics.verdicts import WRONG
from tests.running import COMMAND, run

PLANTED: Final = Path(__file__).parent / "programs" / "planted.py"
MATTERS: Final = 10.0
"""A mistake that changes no result of the program by more than this, in units of rounding, is not counted."""
COUNT: Final = 11
"""Mistakes in each program."""
SHARE: Final = 0.5
"""Of the mistakes of one program that matter, how many statements are named at least; over all programs it is more than
0.8, as docs/numerics.md tells.
"""
KINDS: Final = {
    **dict.fromkeys(("constant", "slight constant"), kinds.CONSTANT),
    **dict.fromkeys(("minus", "plus", "extremum", "function", "comparison"), kinds.OPERATION),
    **dict.fromkeys(("square", "negation"), kinds.OPERAND),
    **dict.fromkeys(("mask", "choice"), kinds.CHOICE),
    **dict.fromkeys(("initial", "not reset"), kinds.INITIAL),
    **dict.fromkeys(("index", "broadcast"), kinds.INDEX),
    **dict.fromkeys(("narrow", "narrow sum"), kinds.NARROWED),
    **dict.fromkeys(("not written", "partly written", "store index"), kinds.NOT_WRITTEN),
    "swapped": kinds.SWAPPED,
    "loop end": kinds.LEFT_OUT,
    "earlier value": kinds.OTHER_VARIABLE,
    "other buffer": kinds.BUFFER,
    "lost updates": kinds.SKIPPED,
    "added twice": kinds.TWICE,
}
"""Mistake → the kind of error that it is."""
ALSO: Final = {
    "other buffer": (kinds.INDEX, kinds.UNINITIALISED),
    # The earlier value is what a buffer that is changed in place had before.
    "earlier value": (kinds.NOT_WRITTEN,),
    "store index": (kinds.STORED_ELSEWHERE,),
    "function": (kinds.OPERAND, kinds.SIGN),
    "plus": (kinds.SWAPPED, kinds.SIGN),
    "minus": (kinds.SWAPPED, kinds.SIGN),
}
"""Kinds that such a mistake can be as well, for its values."""

PROGRAMS: Final = (
    *("mlp", "attention", "distances", "pictures", "recurrent", "words", "rotary", "experts"),
    *("block", "graph", "adam", "focal", "scans", "resized", "normed", "cached", "quantized"),
    *("mlp-half", "pictures-half"),
    *("stages", "nested", "channels-last", "autocast", "dynamic", "foreach", "aliased"),
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
    kind: str
    """The kind of error that this statement is said to make; empty if another one is called wrong."""

    def __str__(self) -> str:
        row = self.planted
        said = "failed" if "failed" in row else "found" if self.found else "missed"
        said += f", its statement too ({self.kind})" if self.statement else ""
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
    for row in judged(Graphs(dump)):
        number = re.match(r"model__(\d+_[a-z]+)_", row.graph)
        if row.verdict == WRONG and number:
            wrong.setdefault(number[1], set()).add(row.kernel or row.level)
    statements = {}
    for found in kernel_statements(Graphs(dump)):
        if found.blamed is not None and (number := re.match(r"model__(\d+_[a-z]+)_", found.graph)):
            place = (number[1], found.kernel, found.blamed.line, found.blamed.text)
            statements[place] = "" if found.kind is None else found.kind.kind
    return [_outcome(json.loads(line), wrong, statements) for line in done.stdout.splitlines()]


def _outcome(
    row: dict[str, Any], wrong: dict[str, set[str]], statements: dict[tuple[str, str, int, str], str]
) -> Outcome:
    said = {(graph, kernel) for graph in row.get("graphs", ()) for kernel in wrong.get(graph, ())}
    place = (row.get("graph", ""), row.get("kernel", ""))
    others = tuple(sorted(f"{graph} {kernel}" for graph, kernel in said - {place}))
    # The loaded source begins with an empty line.
    kind = statements.get((*place, row.get("line", 0) - 1, row.get("was", "")))
    return Outcome(row, row.get("times", 0.0) > MATTERS, place in said, others, kind is not None, kind or "")


def check(found: list[Outcome], record_property: Callable[[str, object], None]) -> None:
    """Each mistake that matters is found in its kernel and nothing else is called wrong; `SHARE` of their statements
    are named at least.
    """
    for one in found:  # pytest --junit-xml=FILE writes the table
        record_property("mistake", str(one))
    assert [one.others for one in found] == [()] * len(found), "\n".join(map(str, found))
    counted = [one for one in found if one.matters]
    assert len(counted) >= COUNT // 2
    assert [str(one) for one in counted if not one.found] == []
    assert sum(one.statement for one in counted) >= SHARE * len(counted), "\n".join(map(str, counted))


def _is_of_its_kind(one: Outcome) -> bool:
    """No rule may hold for the values of a mistake: then none is said to."""
    fault = one.planted["fault"]
    return one.kind in (KINDS[fault], *ALSO.get(fault, ()), kinds.UNKNOWN)


@pytest.mark.parametrize(
    "words",
    [
        ("distances", "--count", "2"),
        # The parts of a concatenation are written and read by one kernel.
        ("rotary", "--kinds", "not written", "--count", "1"),
        # The sum of a mean, the squares of a variance and the zeros of an addition have kernels of their own.
        ("stages", "--kinds", "square", "narrow sum", "earlier value", "--count", "3"),
        # The result of the graph is assembled from what a launch writes in parts.
        ("adam", "--kinds", "plus", "--count", "1"),
        # A sum over all elements, which is stored outside of all loops; a variable that belongs to another buffer.
        ("normed", "--kinds", "square", "earlier value", "lost updates", "--count", "3"),
        # A buffer that one kernel writes and then changes in part: what neither writes must show.
        ("cached", "--kinds", "loop end", "constant", "--count", "4"),
        # Whole numbers, which rounding does not move.
        ("quantized", "--kinds", "constant", "narrow", "--count", "3"),
        # Branches, loops and regions.
        ("nested", "--kinds", "minus", "slight constant", "--count", "2"),
        # One operator for a list of tensors; views of an input that is changed.
        ("foreach", "aliased", "--kinds", "constant", "--count", "1"),
        # Symbols for sizes; sums over rows, of which the last vector is shorter, are read again by the same kernel.
        ("dynamic", "--kinds", "constant", "minus", "function", "--count", "3"),
    ],
)
def test_a_few(words: tuple[str, ...], tmp_path: Path, inductor_cache: Path) -> None:
    found = outcomes(tmp_path, inductor_cache, *words)

    assert [one.others for one in found] == [()] * len(found), "\n".join(map(str, found))
    counted = [one for one in found if one.matters]
    assert counted
    assert all(one.found for one in counted), "\n".join(map(str, counted))
    assert all(one.statement and _is_of_its_kind(one) for one in counted), "\n".join(map(str, counted))


@pytest.mark.parametrize(
    "words",
    [
        ("channels-last", "--kinds", "constant", "--count", "1"),
        ("autocast", "--kinds", "function", "--count", "1"),
        ("template", "--kinds", "constant", "--count", "2"),
    ],
)
def test_the_kernel_is_named_in_other_forms(words: tuple[str, ...], tmp_path: Path, inductor_cache: Path) -> None:
    """Channels-last, autocast, the epilogue of a tuned template."""
    found = outcomes(tmp_path, inductor_cache, *words)

    assert [one.others for one in found] == [()] * len(found), "\n".join(map(str, found))
    counted = [one for one in found if one.matters]
    assert counted
    assert all(one.found for one in counted), "\n".join(map(str, counted))


def test_no_mistake_moves_an_address(tmp_path: Path) -> None:
    """What lies beside a buffer is no value, and may be no memory. One kernel of the program computes indices, and all
    that the other one does with them is to read there.
    """
    done = run([sys.executable, PLANTED, "picked", "--count", "100"], tmp_path)

    assert done.returncode == 0, done.stderr
    _, *planted = map(json.loads, done.stdout.splitlines())
    kinds_of_mistakes = {row["fault"] for row in planted}
    assert {row["kernel"] for row in planted} == {"cpp_fused_index_mul_1"}
    assert {"constant", "index", "not written"} <= kinds_of_mistakes
    assert kinds_of_mistakes & {"minus", "comparison", "mask", "choice"} == set()


@pytest.mark.harmless
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_kernel_with_the_mistake_is_named(
    program: str, tmp_path: Path, inductor_cache: Path, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(tmp_path, inductor_cache, program, "--count", str(COUNT))

    check(found, record_property)
    assert [str(one) for one in found if one.matters and one.statement and not _is_of_its_kind(one)] == []
