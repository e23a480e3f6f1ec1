"""What compiles do differently: the ranks of one run, or two runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.compare import Difference
from inspect_compile.analysis.processes import Rank, compared
from inspect_compile.tables.claim import Claim
from inspect_compile.tables.sheet import Stack, joined, styled
from inspect_compile.tables.text import clean, file_name, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_TABLES = {
    "collectives": "nodes",
    "graphs": "graphs",
    "frames": "dynamo",
    "breaks": "dynamo",
    "recompiles": "dynamo",
    "nodes": "nodes",
    "kernels": "kernels",
    "remarks": "remarks",
    "guards": "guards",
    "cost": "graphs",
}
"""Level → the table that shows the evidence."""
_HARM = "ranks that wait for different collectives wait for ever"
_EXAMPLES = 3


def ranks(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Each rank against the lowest one: equal, or what differs."""
    found = compared(dump)
    if not found:
        return styled("this run has no ranks: it was not started by torchrun or the like", style="dim")
    lowest = found[0]
    parts: list[RenderableType] = [_title(lowest, f"{number_of(len(found), 'rank')}; the others against this one")]
    equal = [rank for rank in found[1:] if not rank.differences]
    if equal:
        told = " ".join(f"rank {rank.rank}" for rank in equal)
        verb = "compiles" if len(equal) == 1 else "compile"
        parts.append(styled(f"{told} {verb} the same: graphs, kernels by content, guards, recompiles"))
    for rank in found[1:]:
        if rank.differences:
            names_of = (f"rank {lowest.rank}", f"rank {rank.rank}")
            evidence = (_of_rank(said, lowest.rank), _of_rank(said, rank.rank))
            parts.append(
                Stack([_title(rank, ""), *differences(rank.differences, names_of, evidence, limit)], gap=False)
            )
    return Stack(parts)


def between(found: Sequence[Difference], names: tuple[str, str], limit: int | None) -> RenderableType:
    """What differs between two dumps, named as the person named them."""
    if not found:
        return styled(f"{clean(names[0])} and {clean(names[1])} compiled the same")
    levels = Counter(row.level for row in found)
    told = ", ".join(f"{level} {count}" for level, count in levels.items())
    head = joined((f"{number_of(len(found), 'difference')}", "bold"), (f"  {told}", "dim"))
    return Stack([head, *differences(found, names, (f"show {names[0]}", f"show {names[1]}"), limit)], gap=False)


def _title(rank: Rank, more: str) -> RenderableType:
    run = rank.summary
    counts = (
        number_of(run.graphs, "graph"),
        number_of(run.kernels, "kernel"),
        number_of(run.graph_breaks, "graph break"),
        number_of(run.recompiles, "recompile"),
    )
    return joined((f"rank {rank.rank}", "bold"), (f"  {', '.join(counts)}   {more}".rstrip(), "dim"))


def _of_rank(said: str, rank: int) -> str:
    return " ".join(word for word in ("show", said.strip(), "--rank", str(rank)) if word)


def differences(
    found: Sequence[Difference], names: tuple[str, str], evidence: tuple[str, str], limit: int | None
) -> Iterator[RenderableType]:
    """One claim a difference, under its graphs; `names` of the two, and `evidence`, how their tables are asked for."""
    for _, group in groupby(found, key=lambda difference: difference.level):
        rows = list(group)
        shown = rows if limit is None else rows[:limit]
        for row in shown:
            yield from _difference(row, names, evidence)
        if len(rows) > len(shown):
            yield styled(f" … {len(rows) - len(shown):,} more in {rows[0].level}", style="dim")


def _difference(row: Difference, names: tuple[str, str], evidence: tuple[str, str]) -> Iterator[RenderableType]:
    message = row.message.replace("{a}", names[0]).replace("{b}", names[1])
    own = row.graph or row.other
    where = "" if row.where is None else f"  {file_name(row.where)}"
    is_grave = row.level in ("collectives", "graphs")
    side = 1 if row.second or not row.graph else 0
    graph = row.other if side else row.graph
    which = f" --graph {clean(graph)}" if "/" not in graph and graph else ""
    yield Claim(
        joined(
            (f" {row.level:<12}", "red" if is_grave else "yellow"),
            (clean(own), "bold"),
            f"  {one_line(message)}{where}",
        ),
        f"{evidence[side]} {_TABLES[row.level]}{which}",
    )
    if row.level == "collectives":
        yield styled(f"              {_HARM}", style="red")
    if row.level != "cost":
        for name, only in zip(names, (row.first, row.second), strict=True):
            yield from _examples(name, only)


def _examples(name: str, only: Iterable[str]) -> Iterator[RenderableType]:
    items = list(only)
    for item in items[:_EXAMPLES]:
        yield Claim(joined((f"              {clean(name)}: ", "dim"), one_line(item)[:200]))
    if len(items) > _EXAMPLES:
        yield styled(f"              … {len(items) - _EXAMPLES:,} more", style="dim")
