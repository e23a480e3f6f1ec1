"""Kernels that compute in float64, as values do that come from NumPy, where float32 moves half the bytes."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.cost.roofline import Bounds, roofline
from inspect_compile.analysis.cost.roofs import Roof, roof_of
from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.gpu.precision import of_calls
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.cost.step_kinds import COMPILED, LIBRARY
from inspect_compile.knowledge.overview.findings import DOUBLE_PRECISION

_DOUBLE: Final = "float64"
_FLOAT: Final = "float32"
_LEAST: Final = 0.1
"""Share of what all launches take at the roofline that must be saved."""


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for all graphs: what float32 saves by the roofline, as a part of the kernels' time where it was measured."""
    yield from of_account(dump, graphs, recorded_account(dump))


def of_account(dump: Dump, graphs: list[CompiledGraph], account: Account | None) -> Iterator[Finding]:
    """The same with the account of a step, if there is one."""
    roof = roof_of(dump)
    if roof is None or _FLOAT not in roof.peak:
        return
    rows = [row for graph in graphs for row in roofline(graph, roof)]
    doubles = [row for row in rows if row.dtype == _DOUBLE]
    whole = sum(row.least_seconds for row in rows)
    saved = sum(row.least_seconds - _in_float32(row, roof) for row in doubles)
    if not doubles or saved < _LEAST * whole:
        return
    largest = max(doubles, key=lambda row: row.least_seconds)
    seconds = saved if account is None else saved / whole * _taken(account)
    why = f"{len(doubles):,} of {len(rows):,} launches compute in float64"
    yield of_calls(DOUBLE_PRECISION, doubles, largest, seconds, account, why=why)


def _in_float32(row: Bounds, roof: Roof) -> float:
    """Seconds at the roofline with half the bytes."""
    faster = roof.peak.get(row.peak, roof.peak[_FLOAT]) / roof.peak[_FLOAT]
    return max(row.memory_seconds / 2, row.compute_seconds * faster)


def _taken(account: Account) -> float:
    """The time of the graphs' kernels and library calls in a step."""
    return sum(row.seconds for row in account.rows if row.kind in (COMPILED, LIBRARY) and not row.is_idle)
