"""Parts of compiling that take long and that a person can do without: autotuning, and passes of the program's own."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import ONCE, Finding, parts_at
from inspect_compile.analysis.frontend.times import parts, stage_times, total
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, Pass
from inspect_compile.graph import CompiledGraph, grouped
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.frontend.compile_stages import TUNING
from inspect_compile.knowledge.frontend.own_code import is_library
from inspect_compile.knowledge.overview.findings import AUTOTUNING, OWN_PASS, UNROLLED, WORDS

_LEAST_SHARE: Final = 0.2
_LEAST_SECONDS: Final = 1.0
"""What takes less of all compiling, or less time, is no finding."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """Autotuning of all compiles together, and each function of the program that ran as a pass."""
    timers = parts(dump)
    whole = total(timers)
    tuning = sum(row.seconds for row in stage_times(timers) if row.stage == TUNING)
    if _is_long(tuning, whole):
        yield _finding(AUTOTUNING, tuning, whole, None, "")
    own = [(where, row) for row in dump.rows(Pass) if (where := _place(row)) is not None]
    for (_, _, name), rows in grouped(own, lambda pair: (pair[0].file, pair[0].line, pair[1].name)).items():
        seconds = sum(row.seconds for _, row in rows)
        if _is_long(seconds, whole):
            yield _finding(OWN_PASS, seconds, whole, rows[0][0], f"as {name}, {len(rows):,} times: ")


def _is_long(seconds: float, whole: float) -> bool:
    return seconds >= _LEAST_SECONDS and seconds >= _LEAST_SHARE * whole


def _place(row: Pass) -> Location | None:
    """Where a pass is defined, if that is the program's own code: `my_pass /train/passes.py:3`."""
    function, _, place = row.defined.partition(" ")
    file, _, line = place.rpartition(":")
    if row.kind != "pass" or not line.isdecimal() or is_library(file):
        return None
    return Location(file, int(line), function)


def _finding(kind: str, seconds: float, whole: float, where: Location | None, how: str) -> Finding:
    return Finding(
        kind=UNROLLED,
        graph="",
        what=WORDS[kind].what,
        parts=parts_at(where),
        seconds=seconds,
        when=ONCE,
        sure=MEASURED,
        why=f"{how}{seconds:.1f} of {whole:.1f} s of compiling",
        to_do=WORDS[kind].to_do,
    )
