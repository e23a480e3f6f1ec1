"""Float32 matrix products on the vector units of a GPU with TF32, because torch may not round their inputs."""

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
from inspect_compile.knowledge.cost.step_kinds import LIBRARY
from inspect_compile.knowledge.kernels.library_kernels import CALLS, library_of
from inspect_compile.knowledge.overview.findings import MATMUL_PRECISION

_TF32: Final = "tf32"
_FLOAT: Final = "float32"
_LEAST: Final = 0.05
"""Share of what the matrix products take that must be saved at the roofline."""
_MATMULS: Final = frozenset(f"aten::{name}" for name in CALLS["matmul"] if "convolution" not in name)


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for all graphs: what TF32 saves by the roofline, as a part of the products' time where it was measured."""
    account = recorded_account(dump)
    yield from of_account(dump, graphs, account)


def of_account(dump: Dump, graphs: list[CompiledGraph], account: Account | None) -> Iterator[Finding]:
    """The same with the account of a step, if there is one."""
    roof = roof_of(dump)
    if roof is None or _TF32 not in roof.peak or roof.peak[_TF32] <= roof.peak.get(_FLOAT, 0.0):
        return
    rows = [row for graph in graphs if graph.fact.tf32 is False for row in roofline(graph, roof)]
    products = [row for row in rows if row.heavy and row.peak == _FLOAT and "convolution" not in row.kernel]
    whole = sum(row.least_seconds for row in products)
    saved = sum(row.least_seconds - _with_tf32(row, roof) for row in products)
    if not products or saved < _LEAST * whole:
        return
    taken = _taken(account) if account is not None else None
    largest = max(products, key=lambda row: row.least_seconds - _with_tf32(row, roof))
    seconds = saved if taken is None else taken * saved / whole
    why = (
        f"{len(products):,} calls of libraries; float32_matmul_precision is highest; peak of {roof.name}: "
        f"{roof.peak[_FLOAT] / 1e12:.0f} TFLOP/s, of TF32 {roof.peak[_TF32] / 1e12:.0f}"
    )
    yield of_calls(MATMUL_PRECISION, products, largest, seconds, None if taken is None else account, why=why)


def _with_tf32(row: Bounds, roof: Roof) -> float:
    return max(row.memory_seconds, row.heavy / roof.peak[_TF32])


def _taken(account: Account) -> float | None:
    """The time of matrix products that libraries compute in a step; None where kernels have no operators."""
    own = [row for row in account.rows if row.kind == LIBRARY and not row.is_idle]
    products = [row for row in own if row.what in _MATMULS or _is_product(row.what)]
    return sum(row.seconds for row in products) if products else None


def _is_product(kernel: str) -> bool:
    library = library_of(kernel)
    return library is not None and library.does == "matmul"
