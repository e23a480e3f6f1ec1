"""Where two compiles differ, for `show ranks` and `diff`: each difference with the lines that only one side has; for
`diff --stage` one text of both.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.analysis.compare.causes.texts import DiffLine
from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.facts import Guard, Kernel
from inspect_compile.tables.compare.causes import causes
from inspect_compile.tables.parts import command
from inspect_compile.tables.styled_text import Block, Claim, Stack, joined, pointer, styled
from inspect_compile.tables.text import number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

LINES: Final = 3
"""Maximum number of lines of each side, unless all are requested."""

TABLE_OF: Final = {
    "collectives": "nodes",
    "frames": "dynamo",
    "recompiles": "dynamo",
    "graph_breaks": "dynamo",
    "graphs": "graphs",
    "status": "graphs",
    "nodes": "nodes",
    "kernels": "kernels",
    "fusion": "fusion",
    "guards": "guards",
    "caches": "dynamo",
    "remarks": "remarks",
    "settings": "summary",
}
"""Kind of difference → the table of `show` with the evidence."""

_BY_GRAPH: Final = ("nodes", "kernels", "fusion")
_EXPLAINED: Final = ("graphs", "nodes", "kernels", "fusion")
_SIGNS: Final = {"-": "bad", "+": "good", "@": "accent"}
"""Role of a line of a unified diff, by how it begins."""
_URGENT: Final = ("collectives", "frames", "recompiles", "graphs", "status")


@dataclass(frozen=True)
class Names:
    """The two dumps that are compared."""

    shown: tuple[str, str]
    arguments: tuple[str, str]
    """How a command names them: `run`, `run --rank 1`."""


def differences(
    rows: Sequence[Difference], dump_argument: Callable[[Difference], str], *, limit: int | None
) -> Iterator[Block]:
    """The lines of each difference; `dump_argument` returns the name of the dump with the evidence."""
    most = None if limit is None else LINES
    for row in rows if limit is None else rows[:limit]:
        mark = (" ▲ ", "bad") if row.kind in _URGENT else (" ● ", "accent")
        kind = (f"{row.kind.replace('_', ' ')}  ", "strong")
        yield Claim(joined(mark, kind, one_line(row.message)), evidence(row, dump_argument(row)))
        for name, lines in ((row.a_name, row.a), (row.b_name, row.b)):
            for line in lines if most is None else lines[:most]:
                yield joined((f"     only {one_line(name)}  ", "dim"), one_line(line), is_cut=True)
            if most is not None and len(lines) > most:
                yield styled(f"     only {one_line(name)}  … {number_of(len(lines) - most, 'more line')}", "dim")
    if limit is not None and len(rows) > limit:
        yield styled(f" … {number_of(len(rows) - limit, 'more difference')}", "dim")


def comparison(
    why: Sequence[Cause],
    rows: Sequence[Difference],
    dumps: "tuple[Dump, Dump]",
    names: Names,
    *,
    limit: int | None,
    every: str = "",
) -> Block:
    """Why the two differ, the most expensive cause first; then the differences that no cause is told of, without
    `limit` all. `every` is the command that prints all.
    """
    if not rows and not why:
        both = " and ".join(map(one_line, names.shown))
        seen = [number_of(len(dumps[0].outermost()), "graph"), number_of(len(dumps[0].rows(Guard)), "guard")]
        return styled(f"No difference: {both} compiled the same, {' and '.join(seen)} each.", "good")
    between = f"between {one_line(names.shown[0])} and {one_line(names.shown[1])}"
    parts: list[Block] = []
    if why:
        parts += [
            styled(f"{number_of(len(why), 'cause')} of differences {between}", "strong"),
            causes(why, limit=limit),
        ]
    explained = {graph for cause in why for graph in cause.graphs}
    shown = rows if limit is None else [row for row in rows if not _is_explained(row, explained)]
    if shown:
        head = f"{number_of(len(shown), 'difference')} {'besides' if why else between}"
        found = differences(
            shown, lambda row: names.arguments[0 if row.graph and not row.other_graph else 1], limit=limit
        )
        parts += [styled(head, "strong"), Stack(list(found), gap=False)]
    if len(shown) < len(rows):
        parts.append(pointer(f"{number_of(len(rows) - len(shown), 'difference')} of graphs with these causes", every))
    return Stack(parts)


def _is_explained(row: Difference, graphs: set[str]) -> bool:
    """Is it about nodes or kernels of a graph that a cause is told of?"""
    return row.kind in _EXPLAINED and bool({row.graph, row.other_graph} & graphs)


def evidence(row: Difference, dump_argument: str) -> str:
    """The command that shows the evidence."""
    table = TABLE_OF[row.kind]
    graph = row.other_graph or row.graph
    if table in _BY_GRAPH and graph:
        return command(dump_argument, table, "--graph", graph)
    return command(dump_argument, table, row.compile_id or "" if table in ("dynamo", "guards") else "")


def stage_difference(
    rows: Sequence[DiffLine], names: tuple[str, str], kernels: tuple[Kernel, Kernel], stage: str
) -> Block:
    """One text of two kernels: what is compared, and the lines that differ with those around them."""
    said = [f"{one_line(name)} {one_line(kernel.name)}" for name, kernel in zip(names, kernels, strict=True)]
    if not rows:
        return styled(f"No difference in {one_line(stage)}: {said[0]}, {said[1]}", "good")
    head = [styled(f"--- {said[0]} {one_line(stage)}", "strong"), styled(f"+++ {said[1]} {one_line(stage)}", "strong")]
    return Stack([*head, *(styled(f"{row.sign}{row.text}", _SIGNS.get(row.sign, "")) for row in rows)], gap=False)
