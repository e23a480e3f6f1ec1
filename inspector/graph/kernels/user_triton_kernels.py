"""What launches of the user's Triton kernels compute and touch, where their TTIR was recorded."""

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.graph.ids import Id
from inspect_compile.graph.indexing.footprint import evaluated
from inspect_compile.graph.kernels.binaries import RUNS, Configuration, configurations, of_kernel, of_kernels
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.graph.kernels.triton_ir import MOST, ProgramWork, program_work
from inspect_compile.graph.rows import hints_of

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

_AXES: Final = 3


class OwnWork(NamedTuple):
    """The work of one launch."""

    heavy: int = 0
    scalar: int = 0
    transcendental: int = 0
    reads: frozenset[int] | None = None
    """Positions of the arguments that it loads from; None if not known."""
    writes: frozenset[int] | None = None
    uncounted: str = ""
    """Why the operations are not counted and given as 0; empty if they are counted."""


class OwnKernels:
    """The launches of a graph; nothing is read before the first request."""

    def __init__(self, graph: "CompiledGraph") -> None:
        self._graph = graph

    def of(self, launch: Launch) -> OwnWork:
        """The work of a launch of kind USER_TRITON."""
        compiled = of_kernel(self._compiled, launch.graph, launch.kernel.name)
        if not compiled:
            return OwnWork(uncounted="its TTIR is not in the dump")
        text = self._text(compiled[0])
        if not text:
            return OwnWork(uncounted=compiled[0].left_out or "its TTIR is not in the dump")
        numbers = [evaluated(argument, self._hints) for argument in launch.arguments]
        own, grid = numbers[:-_AXES], numbers[-_AXES:]
        program = program_work(text, own, grid)
        if program.parameters != len(own):
            # A launch with an explicit configuration would pass its grid after the arguments.
            program = program_work(text)
            return _touched(program, "the dump does not record the grid it runs with")
        programs = 1
        for length in grid:
            if length is None or length < 0:
                return _touched(program, "a length of its grid is not known")
            programs = min(programs * length, MOST)
        if program.uncounted:
            return _touched(program, program.uncounted)
        if compiled[0].choice not in RUNS:
            return _touched(program, "which of its configurations runs is not known")
        heavy, scalar, transcendental = (
            min(count * programs, MOST) for count in (program.heavy, program.scalar, program.transcendental)
        )
        return OwnWork(heavy, scalar, transcendental, program.reads, program.writes)

    @cached_property
    def _compiled(self) -> dict[Id, list[Configuration]]:
        return of_kernels(configurations(self._graph))

    @cached_property
    def _hints(self) -> dict[str, int]:
        return hints_of(self._graph.symbols)

    def _text(self, compiled: Configuration) -> str:
        path = next((stage.path for stage in compiled.stages if stage.name == "ttir"), "")
        return (self._graph.dump.text(compiled.graph, path) if path else None) or ""


def _touched(program: ProgramWork, why: str) -> OwnWork:
    return OwnWork(reads=program.reads, writes=program.writes, uncounted=why)
