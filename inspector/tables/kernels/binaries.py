"""The compiled configurations of Triton kernels: their resources and occupancy."""

from typing import Final

from inspect_compile.analysis.kernels.binaries import Configuration, configurations
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.cost.cost_text import name_column
from inspect_compile.tables.kernels.binary_text import (
    choice_text,
    config_text,
    occupancy_text,
    registers_text,
    shared_text,
)
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.text import byte_text, number_of, seconds_text


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


def _told(found: list[Configuration]) -> str:
    kernels = number_of(len({row.kernel for row in found}), "kernel")
    targets = " ".join(dict.fromkeys(row.target for row in found))
    timed = ", not timed," if any(row.choice == "not measured" for row in found) else ""
    return f"{kernels}, {number_of(len(found), 'configuration')}{timed}{f' for {targets}' if targets else ''}"


binaries = Listing[Configuration]("binaries", COLUMNS, configurations, told=_told, none="no Triton kernel was compiled")
"""One row for each configuration, in the order in which they were compiled."""
