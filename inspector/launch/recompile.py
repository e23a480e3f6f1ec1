"""The graphs of a log compiled again."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from inspect_compile.dump import Dump, paths
from inspect_compile.errors import CommandError
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.launch.replay import Replayed, replayed

_CAPABILITY: Final = re.compile(r"DeviceProperties\(type='(cuda|hip)'[^)]{0,200}\bcc='?(gfx\w{1,8}|\d{2,3})")
"""What the code of a Triton kernel says of its GPU."""


@dataclass(frozen=True)
class Recompiled:
    """One graph of a log."""

    graph: CompiledGraph
    refused: str = ""
    """Why it was not compiled again, on one line; else empty."""
    replay: Replayed | None = None
    """Its second compile, which may have failed."""


def recompiled(dump: Dump, target: str | None = None, *, only_missing: bool = False) -> Iterator[Recompiled]:
    """Compile each graph of a log, of all its ranks, again: for `target`, else for the GPU that it was compiled for.

    With `only_missing` those that were not yet.
    """
    ranks = [part for part in map(Dump, dump.other_processes) if not part.run.replay_of]
    for part in ranks or [dump]:
        for fact in part.outermost():
            graph = CompiledGraph(part, fact.graph)
            wanted = target or architecture(graph)
            if only_missing and _is_done(graph, wanted):
                continue
            try:
                again = replayed(graph, target=wanted)
            except CommandError as error:
                yield Recompiled(graph, refused=str(error))
                continue
            yield Recompiled(graph, replay=again)


def _is_done(graph: CompiledGraph, target: str | None) -> bool:
    """Whether a part of the dump has that compile of the graph, as the log's settings are."""
    for part in map(Dump, graph.dump.other_processes):
        run, end = part.run, part.graph_end(graph.name)
        is_same = run.replay_of == graph.name and target in (None, run.target) and not (run.config or run.denied)
        if is_same and end is not None and end.status == "compiled":
            return True
    return False


def architecture(graph: CompiledGraph) -> str | None:
    """The GPU that the graph's generated code is for, if `--target` knows it; None for a CPU, or if it does not say."""
    for ending in ("py", "cpp"):
        found = _CAPABILITY.search(graph.dump.text(graph.name, f"{paths.OUTPUT_CODE}.{ending}") or "")
        if found is not None:
            name = found[2] if found[1] == "hip" else f"sm_{found[2]}"
            return name if name in TARGETS else None
    return None
