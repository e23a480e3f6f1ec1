"""The ranks of a run, and where they compiled something different."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.compare.differences import Difference
from inspect_compile.analysis.compare.ranks import (
    Agreement,
    RankSummary,
    agreement,
    rank_rows,
    summarize_rank,
    summarize_ranks,
    verdict_text,
)
from inspect_compile.analysis.dumps.parts import ProcessDump, as_compiled, numbers_text, ranks_text
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.tables.columns import Column
from inspect_compile.tables.compare.differences import differences
from inspect_compile.tables.parts import DeclaredTable, Request, command
from inspect_compile.tables.runtime.collectives import claims_of_ranks, sheets
from inspect_compile.tables.styled_text import Block, Claim, Stack, Table, styled
from inspect_compile.tables.text import byte_text, number_of, one_line, seconds_text, time_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

COLUMNS: Final[tuple[Column[RankSummary], ...]] = (
    Column("rank", lambda row: str(row.rank), right=True),
    Column("graphs", lambda row: f"{row.graphs:,}", right=True),
    Column("kernels", lambda row: f"{row.kernels:,}", right=True),
    Column("launches", lambda row: f"{row.launches:,}", right=True, drop=2),
    Column("bytes", lambda row: byte_text(row.bytes), right=True, drop=2),
    Column(
        "measured",
        lambda row: "" if row.kernel_seconds is None else time_text(row.kernel_seconds),
        right=True,
        optional=True,
        drop=2,
    ),
    Column("recompiles", lambda row: f"{row.recompiles:,}", right=True),
    Column("breaks", lambda row: f"{row.graph_breaks:,}", right=True, drop=1),
    Column("compiling", lambda row: seconds_text(row.seconds) if row.seconds is not None else "", right=True),
    Column("status", lambda row: row.status),
    Column(
        "differs",
        lambda row: f"differs from {ranks_text(row.unlike)}" if row.unlike else "",
        role="bad",
        stretch=True,
        least=16,
        optional=True,
    ),
)
_NOT_SEEN = "Not included: collectives outside of compiled graphs, such as those of DistributedDataParallel's hooks."


def ranks(request: Request) -> Block:
    """One row for each rank; then the differences, those that make ranks wait for each other first."""
    dump = request.dump
    there = as_compiled(dump)
    if not there:
        return styled(_alone(dump))
    found = agreement(there)
    parts: list[Block] = [*_of_target(there), Table(COLUMNS, summarize_ranks(there, found))]
    parts.append(verdict(found, ""))
    if found.differences:
        first = {ranks_text(group): group[0] for group in found.groups}

        def evidence_in(row: Difference) -> str:
            side = row.a_name if row.graph and not row.other_graph else row.b_name
            return f"{request.dump_argument} --rank {first[side]}"

        parts.append(Stack(differences(found.differences, evidence_in, limit=request.limit), gap=False))
    collectives = list(sheets(dump, limit=request.limit))
    parts += collectives
    if found.differences and not collectives:
        parts.append(styled(_NOT_SEEN, "dim"))
    return Stack(parts)


def verdict(found: Agreement, evidence: str) -> Claim:
    """Whether the ranks agree, on one line."""
    role = "bad" if found.differences else "good" if sum(map(len, found.groups)) > 1 else ""
    return Claim(styled(verdict_text(found), role), evidence)


def overview(dump: "Dump", there: list[ProcessDump], dump_argument: str) -> Iterator[Block]:
    """A line for each process of a run whose first process compiled nothing, and how to choose one."""
    in_ranks = as_compiled(dump)
    found = agreement(in_ranks) if in_ranks else None
    yield from _of_target(in_ranks)
    for part in there:
        words = part_text(part if part.rank is None else in_ranks[part.rank])
        which = (
            command(f"{dump_argument} --rank {part.rank}", "").rstrip()
            if part.rank is not None
            else f"show {part.dump.root}"
        )
        yield Claim(styled(f" {part.name}   {words}"), which)
    yield from claims_of_ranks(dump, dump_argument)
    if found is not None and len(in_ranks) > 1:
        yield verdict(found, command(dump_argument, "ranks"))
    if in_ranks:
        numbers = numbers_text(in_ranks)
        yield styled(f"Choose one with --rank R (R: {numbers}): {command(dump_argument, 'kernels')} --rank R", "dim")


def part_text(part: ProcessDump) -> str:
    """`1 graph, 5 kernels, 0 recompiles, 0 graph breaks, finished`; of what others recorded what that holds."""
    row, origin = summarize_rank(part), part.dump.run.origin
    counts = (
        (row.graphs, "graph", "graphs"),
        (row.kernels, "kernel", "kernels"),
        (row.recompiles, "recompile", "dynamo"),
        (row.graph_breaks, "graph break", "dynamo"),
    )
    known = [number_of(count, noun) for count, noun, table in counts if not unknown_text(origin, table)]
    return ", ".join([*known, *([] if origin else [one_line(row.status)])])


def _of_target(there: dict[int, ProcessDump]) -> list[Block]:
    """The GPU that the ranks were compiled for, if it was not present."""
    target = next((part.target for part in there.values() if part.target), "")
    return [styled(f"compiled for {target}")] if target else []


def _alone(dump: "Dump") -> str:
    if dump.run.rank is not None:
        return f"This is the part of rank {dump.run.rank}; the dump of all ranks is the folder around it."
    return "No ranks: this is not a distributed run, so there is nothing to compare."


TABLE: Final = DeclaredTable(ranks, lambda graphs: rank_rows(graphs.dump))
