"""The overview as it was kept in the dump when the run ended, so that its readers need not read every table.

It is taken only where the same code would make the same of the dump: it names what it was made from.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

import inspect_compile
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.findings.page import Overview
from inspect_compile.analysis.overview.records import GraphSummary, RunSummary, Totals
from inspect_compile.dump import Dump, paths
from inspect_compile.dump.files import file_inside
from inspect_compile.dump.table import MOST_BYTES
from inspect_compile.facts import StepAccount, StepTime
from inspect_compile.graph import CompiledGraph, Graphs, Once
from inspect_compile.knowledge.targets.host import host

LARGEST: Final = 8 << 20
"""Maximum size in bytes: reading a longer one takes as long as some tables."""
_ROOMS: Final = ("analysis", "dump", "facts", "graph", "knowledge")
"""The code that the overview depends on."""
_BLOCK: Final = 1 << 20


class _Kept(msgspec.Struct, frozen=True):
    made_from: str
    run: RunSummary
    totals: Totals
    graphs: list[GraphSummary]
    lines: list[LineCost]
    findings: list[Finding]
    step: StepAccount | None = None
    step_times: list[StepTime] = []


def overview_of(graphs: Graphs) -> Overview:
    """Everything that the overview tells; `graph` restricts it to one."""
    found = kept(graphs.dump) if graphs.name is None else None
    if found is None:
        from inspect_compile.analysis.findings.computed import computed  # reads and imports a lot

        found = computed(graphs)
    return found


def findings_of(graphs: Graphs) -> list[Finding]:
    """Everything that was missed, lost or odd, the most expensive first; `graph` restricts it to one."""
    found = kept(graphs.dump) if graphs.name is None else None
    if found is not None:
        return found.findings
    from inspect_compile.analysis.findings.every import findings  # reads and imports a lot

    return findings(graphs)


def summaries_of(dump: Dump, graphs: Sequence[CompiledGraph]) -> list[GraphSummary]:
    """The figures of each of these outermost graphs."""
    found = kept(dump)
    known = {} if found is None else {row.graph: row for row in found.graphs}
    if all(graph.name in known for graph in graphs):
        return [known[graph.name] for graph in graphs]
    from inspect_compile.analysis.overview.summary import summarize

    return [summarize(graph) for graph in graphs]


def kept(dump: Dump) -> Overview | None:
    """What the dump keeps; None if it keeps none, or its tables, the code or the figures of the CPU are others now."""
    return _kept(Graphs(dump))


@Once
def _kept(graphs: Graphs) -> Overview | None:
    found = _read(graphs.dump) if _can_be_kept(graphs.dump) else None
    if found is None or found.made_from != _made_from(graphs.dump):
        return None
    return Overview(found.run, found.totals, found.graphs, found.lines, found.findings, found.step, found.step_times)


def to_keep(dump: Dump) -> bytes | None:
    """The overview for the dump to keep; None for a dump that may grow, that lacks something, or that needs others."""
    if not _can_be_kept(dump):
        return None
    from inspect_compile.analysis.findings.computed import computed

    made_from, found = _made_from(dump), computed(Graphs(dump))
    if not found.graphs or dump.damaged or dump.left_out:
        return None
    data = msgspec.json.encode(_Kept(made_from, *found)) + b"\n"
    return data if len(data) <= LARGEST else None


def _can_be_kept(dump: Dump) -> bool:
    """False while rows may be added, and for a target and a replay, which have their frames in another dump."""
    is_part = dump.target is not None or dump.root.name.startswith((paths.TARGET, paths.REPLAY))
    return not is_part and dump.run.status not in ("running", "ranks")


def _read(dump: Dump) -> _Kept | None:
    file = file_inside(dump.root, dump.root / paths.OVERVIEW)
    if file is None:
        return None
    try:
        with file:
            data = file.read(LARGEST + 1)
        return msgspec.json.decode(data, type=_Kept) if len(data) <= LARGEST else None
    except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None


def _made_from(dump: Dump) -> str:
    """A digest of the tables, of the code, and of the figures of this CPU where they count."""
    found = hashlib.sha256(inspect_compile.__version__.encode())
    for name, size in _code():
        found.update(f"{name} {size}\n".encode())
    if dump.run.device == "cpu":
        found.update(repr(host()).encode())
    left = MOST_BYTES
    for path in _tables(dump.root):
        if (file := file_inside(dump.root, path)) is None:
            continue
        found.update(f"{path.relative_to(dump.root).as_posix()}\n".encode("utf-8", "surrogatepass"))
        with file:
            while left > 0 and (block := file.read(_BLOCK)):
                found.update(block)
                left -= len(block)
    return found.hexdigest()


def _tables(root: Path) -> Iterator[Path]:
    """run.json and all tables of the dump and of its replays, which findings name too, in the order of their names."""
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders[:] = [name for name in folders if name == paths.GRAPHS or name.startswith(paths.REPLAY)]
        folders[:] = sorted(name for name in folders if name != paths.KERNELS)
        yield from (Path(folder, name) for name in sorted(files) if name == paths.RUN or name.endswith(".jsonl"))


def _code() -> Iterator[tuple[str, int]]:
    """Names and sizes of the modules: another version has others, and so has a working copy that was edited."""
    for package in inspect_compile.__path__:
        for room in _ROOMS:
            for folder, folders, files in os.walk(Path(package, room)):
                folders.sort()
                for name in sorted(files):
                    if name.endswith(".py"):
                        yield name, os.stat(os.path.join(folder, name)).st_size
