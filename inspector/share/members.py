"""Which files of a dump are included: those that docs/dump.md names, and no links."""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import TABLES
from inspect_compile.finish import ARTIFACTS

LINKS: Final = "links"
OTHERS: Final = "files that are not part of a dump"
UNREADABLE: Final = "unreadable files"
INPUTS: Final = "inputs of wrong launches (--inputs puts them in)"

_TOP: Final = frozenset(
    {paths.RUN, paths.SCRIPT_LOG, paths.WORKER_LOG, paths.FINISHED, paths.OVERVIEW, paths.SHARED}
    | {paths.table(name, None) for name, kinds in TABLES.items() if not kinds[0].per_graph}
)
DERIVED: Final = frozenset(ARTIFACTS)
_OF_A_GRAPH: Final = frozenset(
    {paths.FX_RUNNABLE, paths.FX_READABLE, paths.FX_TRANSFORMED}
    | {f"{paths.OUTPUT_CODE}.py", f"{paths.OUTPUT_CODE}.cpp"}
    | {f"{name}.jsonl" for name, kinds in TABLES.items() if kinds[0].per_graph}
    | DERIVED
)
_DRAWING: Final = re.compile(rf"(?:^|_)(?:{'|'.join(paths.DRAWINGS)})[_.]")


_MARKERS: Final = frozenset({paths.LAUNCH})
"""Files that matter only while the run goes on."""


_DEEPEST: Final = 2
"""Maximum depth of parts within parts, such as the targets of a rank."""


class Member(NamedTuple):
    """A file of the dump, and its path in it."""

    place: tuple[str, ...]
    path: Path

    @property
    def name(self) -> str:
        return self.place[-1]

    @property
    def is_log(self) -> bool:
        """True if it is the output of a process."""
        return self.name in (paths.SCRIPT_LOG, paths.WORKER_LOG)

    @property
    def is_derived(self) -> bool:
        """True if it can be made again from the other files."""
        return self.name in DERIVED or self.name in (paths.FINISHED, paths.OVERVIEW) or self.is_drawing

    @property
    def is_inputs(self) -> bool:
        """True if it has tensors of the program's."""
        return self.place[-2:-1] == (paths.INPUTS,)

    @property
    def is_drawing(self) -> bool:
        """True if `draw` made it."""
        return self.name not in DERIVED and self.name.endswith(paths.DRAWN)


def members(root: Path, left_out: Counter[str]) -> list[Member]:
    """The files of the run and its parts, sorted by path; skipped files are counted in `left_out`."""
    return sorted(_of_run(root, (), left_out), key=lambda member: member.place)


def opened(path: Path) -> int:
    """A descriptor of a regular file; a link that has replaced it is not followed. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("not a plain file")
    return descriptor


def _of_run(root: Path, place: tuple[str, ...], left_out: Counter[str]) -> Iterator[Member]:
    yield from _of_process(root, place, left_out)
    if len(place) == _DEEPEST:
        return
    for part in Dump(root).other_processes:
        if part.is_symlink():
            left_out[LINKS] += 1
        elif paths.is_safe(part.name):
            yield from _of_run(part, (*place, part.name), left_out)


def _of_process(root: Path, place: tuple[str, ...], left_out: Counter[str]) -> Iterator[Member]:
    for entry in _entries(root, left_out):
        if entry.is_file(follow_symlinks=False) and (entry.name in _TOP or _is_drawing(entry.name)):
            yield Member((*place, entry.name), Path(entry.path))
        elif entry.name == paths.GRAPHS and entry.is_dir(follow_symlinks=False):
            for graph in _folders(entry.path, left_out):
                yield from _of_graph(graph, (*place, paths.GRAPHS, graph.name), left_out)
        elif entry.name not in _MARKERS and not (
            entry.is_dir(follow_symlinks=False) and (Path(entry.path) / paths.RUN).exists()
        ):
            left_out[OTHERS] += 1


def _of_graph(folder: Path, place: tuple[str, ...], left_out: Counter[str]) -> Iterator[Member]:
    for entry in _entries(folder, left_out):
        if entry.name == paths.KERNELS and entry.is_dir(follow_symlinks=False):
            for kernel in _folders(entry.path, left_out):
                yield from _of_kernel(kernel, (*place, paths.KERNELS, kernel.name), left_out)
        elif entry.name == paths.INPUTS and entry.is_dir(follow_symlinks=False):
            yield from _of_inputs(Path(entry.path), (*place, paths.INPUTS), left_out)
        elif entry.is_file(follow_symlinks=False) and _is_of_a_graph(entry.name):
            yield Member((*place, entry.name), Path(entry.path))
        else:
            left_out[OTHERS] += 1


def _of_kernel(
    folder: Path, place: tuple[str, ...], left_out: Counter[str], *, is_configuration: bool = False
) -> Iterator[Member]:
    """The kernel's source, and the folder of each configuration."""
    for entry in _entries(folder, left_out):
        if not paths.is_safe(entry.name):
            left_out[OTHERS] += 1
        elif entry.is_file(follow_symlinks=False):
            yield Member((*place, entry.name), Path(entry.path))
        elif entry.is_dir(follow_symlinks=False) and not is_configuration:
            yield from _of_kernel(Path(entry.path), (*place, entry.name), left_out, is_configuration=True)
        else:
            left_out[OTHERS] += 1


def _of_inputs(folder: Path, place: tuple[str, ...], left_out: Counter[str]) -> Iterator[Member]:
    for entry in _entries(folder, left_out):
        if entry.is_file(follow_symlinks=False) and paths.is_safe(entry.name) and entry.name.endswith(".pt"):
            yield Member((*place, entry.name), Path(entry.path))
        else:
            left_out[OTHERS] += 1


def _is_of_a_graph(name: str) -> bool:
    return name in _OF_A_GRAPH or paths.is_ir_text(name) or _is_drawing(name)


def _is_drawing(name: str) -> bool:
    return paths.is_safe(name) and name.endswith(paths.DRAWN) and _DRAWING.search(name) is not None


def _folders(folder: str, left_out: Counter[str]) -> Iterator[Path]:
    for entry in _entries(Path(folder), left_out):
        if entry.is_dir(follow_symlinks=False) and paths.is_safe(entry.name):
            yield Path(entry.path)
        else:
            left_out[OTHERS] += 1


def _entries(folder: Path, left_out: Counter[str]) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder by name, without links."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        left_out[UNREADABLE] += 1
        return
    for entry in entries:
        if entry.is_symlink():
            left_out[LINKS] += 1
        else:
            yield entry
