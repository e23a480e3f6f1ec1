"""Matrix products and convolutions in float32 on a GPU that computes them faster in bfloat16.

It changes the numbers, and so stands behind what does not.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from inspect_compile.analysis.cost.roofline import Bounds, roofline
from inspect_compile.analysis.cost.roofs import Roof, roof_of
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.gpu.precision import of_calls
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.cost.step_kinds import IN_ANOTHER_LAYOUT, LIBRARY
from inspect_compile.knowledge.overview.findings import HALF_PRECISION

_HALF: Final = "bfloat16"
_PEAKS: Final = {"float32": "float32", "tf32": "TF32"}
"""What computes float32 → how people call it."""
_LEAST: Final = 0.25
"""Share of what these calls take at the roofline that must be saved: casts cost something, too."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for all graphs: what bfloat16 saves by the roofline, as a part of the calls' time where it was measured."""
    yield from of_account(dump, graphs, recorded_account(dump))


def of_account(dump: Dump, graphs: list[CompiledGraph], account: Account | None) -> Iterator[Finding]:
    """The same with the account of a step, if there is one."""
    roof = roof_of(dump)
    if roof is None or not any(_is_faster(roof, peak) for peak in _PEAKS):
        return
    rows = [row for graph in graphs for row in roofline(graph, roof)]
    calls = [row for row in rows if row.heavy and row.peak in _PEAKS and _is_faster(roof, row.peak)]
    whole = sum(row.least_seconds for row in calls)
    part = 1 - sum(_in_half(row, roof) for row in calls) / whole if whole else 0.0
    if part < _LEAST:
        return
    largest = max(calls, key=lambda row: row.least_seconds)
    seconds = part * (whole if account is None else _taken(account))
    why = (
        f"peak of {roof.name}: {roof.peak[largest.peak] / 1e12:.0f} TFLOP/s in {_PEAKS[largest.peak]}, "
        f"{roof.peak[_HALF] / 1e12:.0f} in {_HALF}, which moves half the bytes"
    )
    yield msgspec.structs.replace(of_calls(HALF_PRECISION, calls, largest, seconds, account, why=why), is_bound=True)


def _taken(account: Account) -> float:
    """The time of all library calls in a step, but for what only turns tensors around."""
    own = [row for row in account.rows if row.kind == LIBRARY and not row.is_idle]
    return sum(row.seconds for row in own if row.where != IN_ANOTHER_LAYOUT)


def _is_faster(roof: Roof, peak: str) -> bool:
    return peak in roof.peak and roof.peak.get(_HALF, 0.0) > roof.peak[peak]


def _in_half(row: Bounds, roof: Roof) -> float:
    """Seconds at the roofline with half the bytes."""
    return max(row.memory_seconds / 2, row.heavy / roof.peak[_HALF])
