"""The forms in which a dump can be given to other tools, in a visible list."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from inspect_compile.errors import CommandError
from inspect_compile.tables.text import terminal_safe

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph


@dataclass(frozen=True)
class ExportRequest:
    """What is exported."""

    dump: "Dump"
    name: str
    """The dump's name."""
    graphs: "Sequence[CompiledGraph]"
    """The outermost graphs, or those that the graphs that were asked for are in."""
    names: tuple[str | None, ...] = (None,)
    """The graphs that were asked for, which may be nested ones; None for all."""


class ExportedFile(NamedTuple):
    """One file."""

    name: str
    """What stands before the file's suffix, empty for the file itself: `bytes` for `model.bytes.json`."""
    data: Iterator[bytes]


class Form(NamedTuple):
    """One format."""

    help: str
    suffix: str
    parts: Callable[[ExportRequest], Iterator[ExportedFile]]
    """The file itself comes first."""
    hint: Callable[[str, Sequence[str]], str]
    """How to look at the file, and the others."""
    of_all_ranks: bool = False
    """Also of a run whose ranks compiled, and whose first process did not."""


def _perfetto(asked: ExportRequest) -> Iterator[ExportedFile]:
    from inspect_compile.analysis.dumps.parts import is_only_parts, ranks
    from inspect_compile.export.perfetto import trace

    dumps = [part.dump for part in ranks(asked.dump).values()] if is_only_parts(asked.dump) else [asked.dump]
    yield ExportedFile("", iter([written(trace(dumps, asked.graphs))]))


def _model_explorer(asked: ExportRequest) -> Iterator[ExportedFile]:
    from inspect_compile.export.model_explorer.collection import explored

    found = explored(asked.dump, asked.graphs, asked.name)
    if not found.collection.graphs:
        raise CommandError(f"{asked.dump.root}: no graph to export; the program may still be compiling")
    yield ExportedFile("", iter([written(found.collection)]))
    for name, data in found.data.items():
        yield ExportedFile(name, iter([written(data)]))


def _json(asked: ExportRequest) -> Iterator[ExportedFile]:
    from inspect_compile.export.rows import every_row

    yield ExportedFile("", every_row(asked.dump, asked.name, asked.names))


def _dot(asked: ExportRequest) -> Iterator[ExportedFile]:
    from inspect_compile.diagrams.schedule.schedule import schedule_dot
    from inspect_compile.facts import Operation

    drawn = [
        schedule_dot(graph, "post_fusion")
        for graph in asked.graphs
        if any(row.phase == "post_fusion" for row in graph.rows(Operation))
    ]
    if not drawn:
        raise CommandError(f"{asked.dump.root}: no operations after fusion were recorded; it may still be compiling")
    yield ExportedFile("", iter(["\n".join(drawn).encode("utf-8", "replace")]))


def written(found: object) -> bytes:
    """JSON that is harmless on a terminal."""
    return terminal_safe(msgspec.json.encode(found))


def _explorer_command(file: str, others: Sequence[str]) -> str:
    data = f" --node_data_paths={','.join(others)}" if others else ""
    return f"pip install ai-edge-model-explorer; model-explorer {file}{data}"


FORMATS: Final[dict[str, Form]] = {
    "perfetto": Form(
        "compile time, and one call of each graph, as a trace",
        ".perfetto.json",
        _perfetto,
        lambda file, _: "open it at https://ui.perfetto.dev",
        of_all_ranks=True,
    ),
    "model-explorer": Form(
        "FX graphs and schedules, with bytes, FLOPs, times and registers as node data",
        ".model-explorer.json",
        _model_explorer,
        _explorer_command,
    ),
    "json": Form(
        "all rows of all tables, as `show TABLE --json` prints them",
        ".json",
        _json,
        lambda file, _: f"jq '.tables.kernels[].name' {file}",
        of_all_ranks=True,
    ),
    "dot": Form("the schedules after fusion, for Graphviz", ".dot", _dot, lambda file, _: f"dot -Tsvg -O {file}"),
}
"""Name of the format → how it is made."""
