"""The kernels: what each computes and moves, and the source lines it comes from."""

from typing import TYPE_CHECKING

import msgspec
from rich.console import RenderableType

from inspect_compile.analysis.cost.kernel_traffic import KernelTraffic, launch_traffic
from inspect_compile.analysis.kernels.binaries import Configuration, configurations, of_kernel, of_kernels
from inspect_compile.analysis.kernels.launches import Launch
from inspect_compile.analysis.kernels.tiling import form_of
from inspect_compile.facts import Binary, Graph, Kernel, Location
from inspect_compile.tables.cost.moved_text import read_text, written_text
from inspect_compile.tables.kernels.binary_text import occupancy_text, registers_text
from inspect_compile.tables.parts import listing
from inspect_compile.tables.sheet import Cell, Column
from inspect_compile.tables.text import byte_text, lines_text, number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("kernel", cap=0.42),
    Column("form"),
    Column("calls", right=True),
    Column("reads", right=True),
    Column("writes", right=True),
    Column("lines", cap=0.3),
    Column("operations", cap=0.15, least=100),
    Column("nodes", flex=True, least=130),
)

_OF_BINARIES = (
    Column("registers", right=True, least=110),
    Column("spills", right=True, least=110),
    Column("occupancy", least=110),
)
"""Shown if Triton compiled any kernel."""


class _Kernel(msgspec.Struct, frozen=True):
    """One kernel with all its calls; for an extern function, its calls in this graph."""

    kernel: Kernel
    name: str
    operations: tuple[str, ...]
    nodes: tuple[str, ...]
    lines: tuple[Location, ...]
    calls: tuple[int, ...]
    traffic: tuple[KernelTraffic, ...]
    """Traffic of each call."""
    binary: Configuration | None
    """The configuration that runs, else the first one."""


def kernels(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each kernel, in the order of the first calls."""

    def rows(found: Graph) -> list[_Kernel]:
        by_name: dict[tuple[str, str], list[Launch]] = {}
        moved = launch_traffic(dump, found.graph)
        for launch in moved.launches:
            by_name.setdefault((launch.graph, launch.kernel.name), []).append(launch)
        compiled = of_kernels(configurations(dump, found.graph))
        return [
            _Kernel(
                calls[0].kernel,
                name,
                tuple(operation for call in calls for operation in call.operations),
                tuple(dict.fromkeys(node for call in calls for node in call.nodes)),
                tuple(dict.fromkeys(line for call in calls for line in call.lines)),
                tuple(call.line for call in calls if call.line is not None),
                tuple(moved.of(call) for call in calls),
                next(iter(of_kernel(compiled, of, name)), None),
            )
            for (of, name), calls in by_name.items()
        ]

    has_binaries = bool(dump.rows(Binary, graph))
    return listing(
        dump,
        graph,
        rows,
        lambda row: [*_cells(row), *(_binary_cells(row.binary) if has_binaries else ())],
        (*_COLUMNS, *(_OF_BINARIES if has_binaries else ())),
        name="kernels",
        told=lambda found: (
            f"{number_of(len(found), 'kernel')}, {number_of(sum(len(row.calls) for row in found), 'call')}"
        ),
        names=names,
        limit=limit,
        dump_argument=dump_argument,
        none="no kernel was generated",
    )


def _cells(row: _Kernel) -> list[Cell]:
    return [
        row.name,
        form_of(row.kernel),
        f"{len(row.calls):,}",
        read_text(row.traffic),
        written_text(row.traffic),
        lines_text(row.lines),
        " ".join(row.operations),
        " ".join(row.nodes),
    ]


def _binary_cells(row: Configuration | None) -> list[Cell]:
    if row is None:
        return ["", "", ""]
    return [registers_text(row), byte_text(row.spills), occupancy_text(row)]
