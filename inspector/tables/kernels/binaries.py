"""The compiled configurations of Triton kernels: their resources and occupancy."""

from inspect_compile.analysis.kernels.binaries import Configuration, configurations
from inspect_compile.tables.kernels.binary_text import (
    choice_text,
    config_text,
    occupancy_text,
    registers_text,
    shared_text,
)
from inspect_compile.tables.parts import Listing
from inspect_compile.tables.sheet import Cell, Column, styled
from inspect_compile.tables.text import byte_text, number_of, seconds_text

_COLUMNS = (
    Column("kernel", cap=0.3),
    Column("configuration", cap=0.22),
    Column("warps", right=True),
    Column("stages", right=True, least=110),
    Column("registers", right=True),
    Column("spills", right=True),
    Column("shared", right=True),
    Column("occupancy"),
    Column("binary", right=True, least=110),
    Column("compiled in", right=True, least=130),
    Column("choice", least=100),
)


def _told(found: list[Configuration]) -> str:
    kernels = number_of(len({row.kernel for row in found}), "kernel")
    targets = " ".join(dict.fromkeys(row.target for row in found))
    timed = ", not timed," if any(row.choice == "not measured" for row in found) else ""
    return f"{kernels}, {number_of(len(found), 'configuration')}{timed}{f' for {targets}' if targets else ''}"


def _cells(row: Configuration) -> list[Cell]:
    code = row.stages[-1].bytes if row.stages else None
    return [
        row.kernel,
        config_text(row),
        str(row.num_warps or ""),
        str(row.num_stages or ""),
        registers_text(row),
        styled(byte_text(row.spills), "" if not row.spills else "yellow") if row.spills is not None else "?",
        shared_text(row),
        occupancy_text(row),
        byte_text(code) if code is not None else "?",
        seconds_text(row.seconds) if row.seconds is not None else "",
        choice_text(row),
    ]


binaries = Listing[Configuration](
    "binaries",
    _COLUMNS,
    lambda dump, graph: configurations(dump, graph),
    _cells,
    told=_told,
    none="no Triton kernel was compiled",
)
"""One row for each configuration, in the order in which they were compiled."""
