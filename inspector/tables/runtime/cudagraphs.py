"""CUDA graphs: what drives them, what was warmed up, recorded and replayed, and why something was recorded again."""

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_compile.analysis.runtime.cudagraphs import CudagraphRow, cudagraph_rows, cudagraphs
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, styled
from inspect_compile.tables.text import byte_text, file_name, number_of, one_line

_ROLES: Final = {"skipped": "warn", "replayed": "good"}


def function_text(row: CudagraphRow) -> str:
    """The graph, or the place where the program captured something itself; which part of it, at which sizes."""
    named = row.graph or row.mode
    if row.driver == "program":
        named = f"captured at {file_name(row.where)}" if row.where else "captured by the program"
    words = [one_line(named) or "(no compiled graph)"]
    if row.partition is not None:
        words.append(f"part {row.partition}")
    if row.sizes:
        words.append(f"at {' '.join(map(str, row.sizes))}")
    return " ".join(words)


def _state(row: CudagraphRow) -> Cell:
    return cell(row.state, _ROLES.get(row.state, ""))


def _reasons(row: CudagraphRow) -> Iterator[str]:
    if row.skipped:
        place = f" at {file_name(row.where)}" if row.where else ""
        yield f"not a CUDA graph{place}: {row.skipped}"
    for one in row.again:
        inputs = f" ({', '.join(one.inputs[:3])}{', …' if len(one.inputs) > 3 else ''})" if one.inputs else ""
        place = f" at {file_name(one.where)}" if one.where else ""
        yield f"{number_of(one.count, 'time')} again: {one.why}{inputs}{place}"
    if row.unlisted:
        yield f"{row.unlisted:,} more recordings are not listed"


COLUMNS: Final[tuple[Column[CudagraphRow], ...]] = (
    Column("function", function_text, role="name", stretch=True, least=26, most=60, middle=True),
    Column("driver", lambda row: row.driver, drop=2),
    Column("state", _state),
    Column("warm-ups", lambda row: f"{row.warmups:,}", right=True, drop=1),
    Column("recorded", lambda row: f"{row.recorded:,}", right=True),
    Column("replayed", lambda row: f"{row.replayed:,}", right=True),
    Column(
        "reason",
        lambda row: one_line("; ".join(_reasons(row))),
        stretch=True,
        least=16,
        most=200,
        wraps=True,
        optional=True,
    ),
)


def cudagraphs_table(request: Request) -> Block:
    """One row for each function: a graph, or a part of one, at one set of sizes."""
    found = cudagraph_rows(request.graphs)
    rows = [row for row in found if all(name in row.graph for name in request.names)]
    if not rows:
        where = "" if request.graph is None else " in this graph"
        return styled(
            f'no CUDA graph is recorded{where}: torch.compile(…, mode="reduce-overhead") asks for one on a GPU',
            "dim",
        )
    pools = {row.device: row.pool_bytes for row in rows if row.pool_bytes is not None}
    notes = [
        styled(f"the memory pool of the CUDA graphs of cuda:{device} holds {byte_text(size)}", "dim")
        for device, size in pools.items()
    ]
    return limited(COLUMNS, rows, request.limit, request.every("cudagraphs"), notes=notes)


def graph_calls_text(rows: Sequence[CudagraphRow]) -> str:
    """What became of one graph, on one line."""
    skipped = next((row.skipped for row in rows if row.skipped), "")
    recorded, replayed = sum(row.recorded for row in rows), sum(row.replayed for row in rows)
    words = []
    if len(rows) > 1:
        words.append(number_of(len(rows), "function"))
    if recorded:
        words += [f"recorded {number_of(recorded, 'time')}", f"replayed {number_of(replayed, 'time')}"]
    elif not skipped:
        words.append(f"{number_of(sum(row.warmups for row in rows), 'warm-up')}, not recorded")
    if skipped:
        words.append(f"not a CUDA graph: {one_line(skipped)}")
    return ", ".join(words)


TABLE: Final = DeclaredTable(cudagraphs_table, cudagraph_rows, cudagraphs)
