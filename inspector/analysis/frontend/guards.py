"""The rows of the table of guards: what must hold for compiled code to be used again."""

from collections.abc import Iterable

import msgspec

from inspect_compile.analysis.frontend.frames import plain_source
from inspect_compile.facts import Guard, Location
from inspect_compile.graph import Graphs, grouped
from inspect_compile.knowledge.frontend.guard_text import words


class GuardRow(msgspec.Struct, frozen=True, tag_field="fact", tag="guard_row"):
    """One condition of a compile; guards of torch that say the same are one row."""

    graph: str
    """The compile id."""
    source: str
    """What it checks, in torch's words: `L['self'].conv`."""
    expression: str
    """`source` as the program would write it: `self.conv`."""
    condition: str
    """What must hold, in words."""
    kinds: tuple[str, ...]
    """torch's name of each of its guards, `TENSOR_MATCH`."""
    code: tuple[str, ...]
    """torch's conditions as Python expressions, each once."""
    where: Location | None
    """The source line that needed it."""


def guard_rows(graphs: Graphs) -> list[GuardRow]:
    """The guards of all compiles, or of the one that made `graph`, in Dynamo's order."""
    return merged(graphs.of_compiles(Guard))


def merged(guards: Iterable[Guard]) -> list[GuardRow]:
    """The rows of these guards, in their order; those of one compile together."""
    return [
        GuardRow(
            graph=compile_id,
            source=source,
            expression=plain_source(source),
            condition=condition,
            kinds=tuple(row.kind for row in rows),
            code=tuple(dict.fromkeys(code for row in rows for code in row.code)),
            where=where,
        )
        for compile_id, found in grouped(guards, lambda row: row.graph).items()
        for (source, condition, where), rows in grouped(found, lambda row: (row.source, words(row), row.where)).items()
    ]
