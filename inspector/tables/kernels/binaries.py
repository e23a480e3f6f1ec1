"""The compiled configurations of Triton kernels: their resources and occupancy, as a table and in words."""

from collections.abc import Sequence
from typing import Final

from inspect_compile.analysis.cost.kernel_rows import KernelRow
from inspect_compile.facts import Binary
from inspect_compile.graph.kernels.binaries import Configuration, configurations
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.cost.cost_text import name_column
from inspect_compile.tables.kernels.autotune import milliseconds_text
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import byte_text, number_of, seconds_text, share_text


def config_text(row: Binary) -> str:
    """`XBLOCK=8 R0_BLOCK=64`; with `num_ctas` only if there is a cluster."""
    values = dict(row.config)
    if (row.num_ctas or 1) > 1:
        values["num_ctas"] = row.num_ctas or 1
    return " ".join(f"{name}={value}" for name, value in values.items())


def registers_text(row: Binary | KernelRow) -> str:
    """`32`; `28 of 169` if the hardware allocates more than the kernel uses."""
    if row.registers is None:
        return "?"
    return f"{row.registers}" if row.allocated_registers is None else f"{row.registers} of {row.allocated_registers}"


def shared_text(row: Binary) -> str:
    """`1.02 kB`."""
    return "?" if row.shared is None else byte_text(row.shared)


def occupancy_text(row: Configuration | KernelRow) -> str:
    """`50 % registers`: the occupancy, and what limits it."""
    if row.occupancy is None:
        return "?"
    share = share_text(row.occupancy, 0)
    return share if row.occupancy == 1 else f"{share} {row.limit}"


def choice_text(row: Configuration) -> str:
    """`chosen 12 µs`."""
    if row.milliseconds is None:
        return row.choice
    return f"{row.choice} {milliseconds_text(row.milliseconds)}"


def binary_text(rows: Sequence[Configuration]) -> str:
    """`XBLOCK=8, 4 warps: 32 registers, no spills, 1.02 kB shared, occupancy 50 % registers (of 3, not measured)`.

    `rows` are the configurations of one kernel; the text is about the first.
    """
    row = rows[0]
    words = [
        f"{registers_text(row)} registers",
        f"{byte_text(row.spills)} of spills" if row.spills else "no spills" if row.spills == 0 else "",
        f"{shared_text(row)} shared",
        f"occupancy {occupancy_text(row)}",
    ]
    config = ", ".join(word for word in (config_text(row), number_of(row.num_warps or 0, "warp")) if word)
    others = f" (of {len(rows)}, {choice_text(row)})" if len(rows) > 1 else ""
    return f"{config}: {', '.join(word for word in words if word)}{others}"


def _spills(row: Configuration) -> Cell:
    return cell(byte_text(row.spills), "warn" if row.spills else "")


COLUMNS: Final[tuple[Column[Configuration], ...]] = (
    name_column("kernel", lambda row: row.kernel, least=14),
    Column("configuration", config_text, stretch=True, least=13, most=40, middle=True),
    Column("warps", lambda row: str(row.num_warps or ""), right=True),
    Column("stages", lambda row: str(row.num_stages or ""), right=True, drop=2),
    Column("registers", registers_text, right=True),
    Column("spills", _spills, right=True),
    Column("shared", shared_text, right=True),
    Column("occupancy", occupancy_text, stretch=True, least=14, most=30),
    Column("binary", lambda row: byte_text(row.stages[-1].bytes if row.stages else None), right=True, drop=3),
    Column(
        "compiled in",
        lambda row: seconds_text(row.seconds) if row.seconds is not None else "",
        right=True,
        optional=True,
        drop=4,
    ),
    Column("choice", choice_text, drop=1),
)


def _summary(found: list[Configuration]) -> str:
    kernels = number_of(len({row.kernel for row in found}), "kernel")
    targets = " ".join(dict.fromkeys(row.target for row in found))
    timed = ", not timed," if any(row.choice == "not measured" for row in found) else ""
    return f"{kernels}, {number_of(len(found), 'configuration')}{timed}{f' for {targets}' if targets else ''}"


TABLE: Final = Listing[Configuration](
    "binaries", COLUMNS, configurations, summary=_summary, none="no Triton kernel was compiled"
).table(Binary)
"""One row for each configuration, in the order in which they were compiled."""
