"""Texts for a compiled configuration of a kernel."""

from collections.abc import Sequence

from inspect_compile.analysis.cost.kernel_rows import KernelRow
from inspect_compile.analysis.kernels.binaries import Configuration
from inspect_compile.facts import Binary
from inspect_compile.tables.kernels.autotune_text import milliseconds_text
from inspect_compile.tables.text import byte_text, number_of, share_text


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
