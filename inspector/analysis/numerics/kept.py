"""What a check of numerics kept: wrong launches with their inputs, each beside the numbers of its result."""

from collections.abc import Iterator
from typing import NamedTuple

from inspect_compile.analysis.numerics.verdicts import Judged, judged
from inspect_compile.dump import Dump
from inspect_compile.facts import KeptInputs
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import WORSE, WRONG


class KeptLaunch(NamedTuple):
    """A wrong launch whose inputs were to be kept."""

    inputs: KeptInputs
    found: Judged
    """Its wrong result."""


def kept_launches(dump: Dump) -> Iterator[KeptLaunch]:
    """The first wrong launch of each kernel, in the order of the calls, if inputs were to be kept at all."""
    wrong = {_key(row): row for row in judged(Graphs(dump)) if row.verdict == WRONG}
    for inputs in dump.rows(KeptInputs):
        found = wrong.get((inputs.graph, inputs.call, inputs.line, inputs.buffer))
        if inputs.index >= 0 and found is not None:
            yield KeptLaunch(inputs, found)


def kept_calls(dump: Dump) -> dict[str, KeptInputs]:
    """Graph → its call whose inputs were to be kept, the last if there are several: the one with the worst verdict."""
    return {row.graph: row for row in dump.rows(KeptInputs) if row.index < 0}


def blamed(dump: Dump) -> dict[str, Judged]:
    """Graphs with a wrong result, else those with one that is worse than eager's → the first such result."""
    found: dict[str, dict[str, Judged]] = {WRONG: {}, WORSE: {}}
    for row in judged(Graphs(dump)):
        if row.verdict in found:
            found[row.verdict].setdefault(row.graph, row)
    return found[WRONG] | {graph: row for graph, row in found[WORSE].items() if graph not in found[WRONG]}


def _key(row: Judged) -> tuple[str, int, int | None, str]:
    return row.graph, row.call, row.line, row.buffer
