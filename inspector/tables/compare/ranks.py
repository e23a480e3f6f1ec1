"""The ranks of a run, and where they compiled something different."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.ranks import Agreement, RankSummary, agreement, summarize_rank, verdict_text
from inspect_compile.analysis.dumps.parts import Part, as_compiled, numbers_text, ranks_text
from inspect_compile.tables.claim import Claim
from inspect_compile.tables.compare.differences import differences
from inspect_compile.tables.parts import command
from inspect_compile.tables.runtime.collectives import claims_of_ranks, sheets
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import number_of, seconds_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS = (
    Column("rank", right=True),
    Column("graphs", right=True),
    Column("kernels", right=True),
    Column("recompiles", right=True),
    Column("breaks", right=True),
    Column("compiled in", right=True),
    Column("status"),
    Column("", flex=True),
)
_NOT_SEEN = "Not seen here: collectives outside of compiled graphs, such as those of DistributedDataParallel's hooks."


def ranks(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each rank; then the differences, those that make ranks wait for each other first."""
    there = as_compiled(dump)
    if not there:
        return Stack(list(_alone(dump)), gap=False)
    found = agreement(there)
    rows = [summarize_rank(part, found.same_as(rank)) for rank, part in sorted(there.items())]
    parts: list[RenderableType] = [*_of_target(there), Sheet(_COLUMNS, [_cells(row, found) for row in rows])]
    parts.append(verdict(found, ""))
    if found.differences:
        first = {ranks_text(group): group[0] for group in found.groups}

        def evidence_in(row: Difference) -> str:
            side = row.a_name if row.graph and not row.other_graph else row.b_name
            return f"{dump_argument} --rank {first[side]}"

        parts.append(Stack(list(differences(found.differences, evidence_in, limit=limit)), gap=False))
    collectives = list(sheets(dump, limit=limit))
    parts += collectives
    if found.differences and not collectives:
        parts.append(styled(_NOT_SEEN, "dim"))
    return Stack(parts)


def verdict(found: Agreement, evidence: str) -> Claim:
    """Whether the ranks agree, on one line."""
    style = "red" if found.differences else "green" if sum(map(len, found.groups)) > 1 else ""
    return Claim(styled(verdict_text(found), style), evidence)


def overview(dump: "Dump", there: list[Part], dump_argument: str) -> Iterator[RenderableType]:
    """A line for each process of a run whose first process compiled nothing, and how to choose one."""
    in_ranks = as_compiled(dump)
    found = agreement(in_ranks) if in_ranks else None
    yield from _of_target(in_ranks)
    for part in there:
        row = summarize_rank(part if part.rank is None else in_ranks[part.rank], 0)
        told = ", ".join(
            (
                number_of(row.graphs, "graph"),
                number_of(row.kernels, "kernel"),
                number_of(row.recompiles, "recompile"),
                number_of(row.graph_breaks, "graph break"),
                row.status,
            )
        )
        which = (
            command(f"{dump_argument} --rank {part.rank}", "").rstrip()
            if part.rank is not None
            else f"show {part.dump.root}"
        )
        yield Claim(styled(f" {part.name}   {told}"), which)
    yield from claims_of_ranks(dump, dump_argument)
    if found is not None and len(in_ranks) > 1:
        yield verdict(found, command(dump_argument, "ranks"))
    if in_ranks:
        numbers = numbers_text(in_ranks)
        yield styled(f"Choose one with --rank R (R: {numbers}): {command(dump_argument, 'kernels')} --rank R", "dim")


def _of_target(there: dict[int, Part]) -> list[RenderableType]:
    """The GPU that the ranks were compiled for, if it was not present."""
    target = next((part.target for part in there.values() if part.target), "")
    return [styled(f"compiled for {target}")] if target else []


def _cells(row: RankSummary, found: Agreement) -> list[Cell]:
    differs = row.rank not in found.groups[0]
    told = f"not as {ranks_text(found.groups[0])}" if differs else ""
    return [
        str(row.rank),
        f"{row.graphs:,}",
        f"{row.kernels:,}",
        f"{row.recompiles:,}",
        f"{row.graph_breaks:,}",
        seconds_text(row.seconds) if row.seconds is not None else "",
        row.status,
        styled(told, style="red"),
    ]


def _alone(dump: "Dump") -> Iterator[RenderableType]:
    if dump.run.rank is not None:
        yield styled(f"This is the part of rank {dump.run.rank}; the dump of all ranks is the folder around it.")
    else:
        yield styled("No ranks: this is no distributed run, so there is nothing to compare.")
