"""What one process compiled, as a contract, with the evidence of each label."""

import re
from collections.abc import Callable
from typing import Final

import msgspec

from inspect_compile.analysis.lock.evidence import Apart, Evidence, Key, Loop
from inspect_compile.analysis.lock.frames import frame_locks
from inspect_compile.analysis.lock.graphs import graph_contract
from inspect_compile.analysis.lock.records import MISSED_OVER, VERSIONS, Lock, Machine, Made
from inspect_compile.dump import Dump
from inspect_compile.facts import Location, Run

_PACKAGES: Final = re.compile(r"(?<=[/\\])(?:(?:site|dist)-packages|lib[/\\]python\d[\d.]*)[/\\]")


class Compiled(msgspec.Struct, frozen=True):
    """A contract, and where in the program each part of it comes from."""

    lock: Lock
    names: dict[int, str]
    """Position of a graph in the contract → its name in the dump."""
    evidence: dict[Key, Evidence]
    lines: dict[str, dict[str, Location]]
    """Name of a frame → the lines in its graphs by their digest."""
    places: dict[str, Location]
    """Name of a frame → where it is defined."""
    loops: tuple[Loop, ...]
    apart: tuple[Apart, ...]


def contract(dump: Dump, *, root: str = "", missed_over: int = MISSED_OVER) -> Compiled:
    """The contract of what the dump's process compiled. Files are named relative to `root`."""
    frames = frame_locks(dump, relative_to(root))
    graphs = [
        graph_contract(dump, graph, frames.of(graph.compile_id), missed_over)
        for graph in dump.outermost()
        if (end := dump.graph_end(graph.graph)) is not None and end.status == "compiled"
    ]
    graphs.sort(key=lambda one: (one.lock.name, msgspec.json.encode(one.lock), msgspec.json.encode(one.machine)))
    run = dump.run
    return Compiled(
        Lock(
            missed_over=missed_over,
            made=Made(
                program=" ".join(relative_to(root)(word) for word in run.argv),
                **{name: run.versions.get(name, "") for name in VERSIONS},
            ),
            frames=frames.locks,
            graphs=tuple(one.lock for one in graphs),
            machine=Machine(kind=machine_kind(run), graphs=tuple(one.machine for one in graphs)),
        ),
        {index: one.graph for index, one in enumerate(graphs)},
        {**frames.evidence, **{key: one for found in graphs for key, one in found.evidence.items()}},
        frames.lines,
        frames.places,
        tuple(loop for one in graphs for loop in one.loops),
        tuple(pair for one in graphs for pair in one.apart),
    )


def machine_kind(run: Run) -> str:
    """What decides over generated code on this machine: the target, the GPU, or of a CPU its vectors and threads."""
    if run.target:
        return run.target
    return run.host if run.device == "cpu" else run.device


def relative_to(root: str) -> Callable[[str], str]:
    """A function that names files below `root` relative to it, and those of installed packages from their package."""
    start = f"{root.rstrip('/')}/" if root else ""

    def relative(file: str) -> str:
        if start and file.startswith(start) and not _packaged(file[len(start) - 1 :]):
            return file[len(start) :]
        return _packaged(file) or _last(file)

    return relative


def _packaged(path: str) -> str:
    """A path from the innermost folder of packages on; empty if it is in none."""
    folders = [*_PACKAGES.finditer(path)]
    return path[folders[-1].end() :] if folders else ""


def _last(path: str) -> str:
    """Of a path outside, only the last part; a relative path as it is."""
    return path.rpartition("/")[2] if path.startswith("/") else path
