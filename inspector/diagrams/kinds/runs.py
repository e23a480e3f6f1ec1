"""Pictures of a whole run: Dynamo's frames, and the ranks beside each other."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspect_compile.diagrams.kinds.kind import Drawn, Kind, Missing, Pictures, Wanted

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph, Graphs


def _dynamo(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.diagrams.dot import dot_text
    from inspect_compile.diagrams.dynamo import dynamo_picture

    found = dynamo_picture(dump)
    yield (
        Missing(None, "no frame was recorded")
        if found is None
        else Drawn(None, "dynamo", "Dynamo's frames, breaks and recompiles", dot_text(found))
    )


def _dynamo_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.analysis.frontend.frames import frames
    from inspect_compile.tables.text import number_of

    count = len(frames(graphs.dump))
    yield "dynamo", number_of(count, "frame") if count else "no frame was recorded"


def _ranks(dump: "Dump", graphs: "Sequence[CompiledGraph]", wanted: Wanted) -> Pictures:
    from inspect_compile.analysis.compare.rank_grid import rank_grid
    from inspect_compile.analysis.compare.ranks import agreement, verdict_text
    from inspect_compile.analysis.dumps.parts import as_compiled
    from inspect_compile.diagrams.ranks import ranks_picture
    from inspect_compile.tables.text import file_name, number_of

    there = as_compiled(dump)
    if not there:
        yield Missing(None, _no_ranks(dump))
        return
    found = agreement(there)
    program = file_name(dump.run.argv[-1]) if dump.run.argv else ""
    title = " · ".join(filter(None, (program, number_of(len(there), "rank"))))
    grid = rank_grid(there, found)
    yield Drawn(None, "ranks", _RANKS, ranks_picture(grid, title, verdict_text(found), fold=wanted.fold), "svg")


def _ranks_listed(graphs: "Graphs") -> Iterator[tuple[str, str]]:
    from inspect_compile.analysis.dumps.parts import ranks
    from inspect_compile.tables.text import number_of

    there = ranks(graphs.dump)
    yield "ranks", number_of(len(there), "rank") if there else _no_ranks(graphs.dump)


def _no_ranks(dump: "Dump") -> str:
    if dump.run.rank is not None:
        return f"this is the part of rank {dump.run.rank}; the dump of all ranks is the folder around it"
    return "this is not a distributed run"


_RANKS = "the ranks side by side, and where they differ"

DYNAMO = Kind(
    "dynamo", "frames, graph breaks and recompiles", _dynamo, _dynamo_listed, is_of_run=True, on_page=Wanted()
)
RANKS = Kind(
    "ranks", _RANKS, _ranks, _ranks_listed, frozenset({"fold"}), is_of_run=True, is_of_ranks=True, on_page=Wanted()
)
