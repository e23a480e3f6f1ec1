"""The compiled configurations of Triton kernels: which one runs, and its occupancy."""

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import asdict

from inspect_compile.facts import Binary
from inspect_compile.graph.ids import Id
from inspect_compile.graph.kernels.chosen import TuningQuery, asked
from inspect_compile.graph.kernels.chosen import of_kernels as asked_of_kernels
from inspect_compile.graph.kernels.occupancy import Occupancy, occupancy
from inspect_compile.graph.rows import grouped
from inspect_compile.knowledge.targets.targets import TARGETS

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

RUNS: Final = ("only", "chosen", "remembered")
"""Choices of configurations that run."""


class Configuration(Binary, frozen=True, kw_only=True, tag="configuration"):
    """One Binary, with what follows from it."""

    choice: str
    """`only`; `chosen` or `slower` if configurations were timed; `remembered` from an earlier run; `not measured`."""
    milliseconds: float | None = None
    """Time of one call as torch measured it."""
    occupancy: float | None = None
    """Share of a multiprocessor's warps that can be resident at once; None for an unknown GPU."""
    limit: str = ""
    """What limits it: `warps`, `blocks`, `registers` or `shared memory`."""
    blocks: int | None = None
    """Thread blocks that a multiprocessor holds at once."""


def configurations(graph: "CompiledGraph") -> list[Configuration]:
    """The configurations of `graph`, nested graphs included, in the order in which they were compiled."""
    of_kernel = grouped(graph.rows(Binary), lambda binary: Id(binary.graph, binary.kernel))
    tuned = asked_of_kernels(asked(graph))
    return [
        _configuration(
            binary,
            _choice(binary, found, tuned.get(key)),
            tuned[key].milliseconds(binary.label) if key in tuned else None,
        )
        for key, found in of_kernel.items()
        for binary in found
    ]


def of_kernels(found: Iterable[Configuration]) -> dict[Id, list[Configuration]]:
    """(graph, kernel) → its configurations, the one that runs first; in torch's order if that is not known."""
    by_kernel = grouped(found, lambda row: Id(row.graph, row.kernel))
    return {key: sorted(rows, key=lambda row: row.choice not in RUNS) for key, rows in by_kernel.items()}


def of_kernel(found: Mapping[Id, list[Configuration]], graph: str, kernel: str) -> list[Configuration]:
    """Those of one kernel."""
    return found.get(compiled_as(found, graph, kernel), [])


def compiled_as(known: Container[Id], graph: str, kernel: str) -> Id:
    """The graph and name by which `known` has what was compiled, or measured, of a kernel.

    The kernels of a nested graph are compiled when the code of the outermost one is loaded; names are not used twice.
    """
    key = Id(graph, kernel)
    return key if key in known else Id(key.outermost, kernel)


def _choice(binary: Binary, among: list[Binary], tuned: TuningQuery | None) -> str:
    if tuned is not None and tuned.winner is not None:
        return "chosen" if binary.label == tuned.winner.label else "slower"
    if len(among) == 1:
        return "remembered" if binary.is_remembered else "only"
    return "not measured"


def _configuration(binary: Binary, choice: str, milliseconds: float | None) -> Configuration:
    full = occupancy_of(binary)
    return Configuration(
        **asdict(binary),
        choice=choice,
        milliseconds=milliseconds,
        occupancy=None if full is None else round(full.share, 4),
        limit="" if full is None else full.limit,
        blocks=None if full is None else full.blocks,
    )


def occupancy_of(binary: Binary) -> Occupancy | None:
    """Occupancy of a binary; None if the GPU or the binary's resources are not known."""
    target = TARGETS.get(binary.target)
    registers = binary.allocated_registers or binary.registers
    if target is None or registers is None or binary.shared is None or binary.num_warps is None:
        return None
    if registers < 0 or binary.shared < 0 or binary.num_warps <= 0:
        return None  # the facts are damaged
    return occupancy(
        target,
        warps=binary.num_warps,
        registers=registers,
        shared=binary.shared,
        scalar_registers=binary.scalar_registers,
    )
