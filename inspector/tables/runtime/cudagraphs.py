"""CUDA graphs: what drives them, what was warmed up, recorded and replayed, and why something was recorded again."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType

from inspect_compile.analysis.runtime.cudagraphs import again, cudagraphs, has_parts, state
from inspect_compile.facts import CudaGraph
from inspect_compile.tables.parts import command, more
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, styled
from inspect_compile.tables.text import byte_text, file_name, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_COLUMNS: Final = (
    Column("function", cap=0.35),
    Column("driver"),
    Column("state"),
    Column("warm-ups", right=True),
    Column("recorded", right=True),
    Column("replayed", right=True),
    Column("why", flex=True, wraps=True),
)
_STYLES: Final = {"skipped": "yellow", "replayed": "green"}


def cudagraphs_table(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
) -> RenderableType:
    """One row for each function: a graph, or a part of one, at one set of sizes."""
    rows = [row for row in cudagraphs(dump, graph) if all(name in row.graph for name in names)]
    if not rows:
        told = "no CUDA graph was asked for" if graph is None else "no CUDA graph was asked for in this graph"
        return styled(f'{told}: torch.compile(…, mode="reduce-overhead") does, and torch.cuda.graph', "dim")
    shown = rows if limit is None else rows[:limit]
    notes: list[Cell] = []
    cut = has_parts(rows)
    if len(rows) > len(shown):
        notes.append(more(len(rows) - len(shown), command(dump_argument, "cudagraphs", *names, "--all")))
    pools = {row.device: row.pool_bytes for row in rows if row.pool_bytes is not None}
    for device, size in pools.items():
        notes.append(styled(f"the memory pool of the CUDA graphs of cuda:{device} holds {byte_text(size)}", "dim"))
    return Stack([Sheet(_COLUMNS, [_cells(dump, row, cut) for row in shown], notes=notes)])


def _cells(dump: "Dump", row: CudaGraph, cut: set[str]) -> list[Cell]:
    found = state(row)
    return [
        function_words(row, is_cut=row.graph in cut),
        row.driver,
        styled(found, _STYLES.get(found, "")),
        f"{row.warmups:,}",
        f"{row.recorded:,}",
        f"{row.replayed:,}",
        styled(one_line("; ".join(_why(dump, row)))),
    ]


def function_words(row: CudaGraph, *, is_cut: bool = False) -> str:
    """The graph, or the place where the program captured something itself; which part of it, at which sizes."""
    named = row.graph or row.mode
    if row.driver == "program":
        named = f"captured at {file_name(row.where)}" if row.where else "captured by the program"
    words = [one_line(named) or "(no compiled graph)"]
    if is_cut and row.partition is not None:
        words.append(f"part {row.partition}")
    if row.sizes:
        words.append(f"at {' '.join(map(str, row.sizes))}")
    return " ".join(words)


def _why(dump: "Dump", row: CudaGraph) -> Iterator[str]:
    if row.skipped:
        place = f" at {file_name(row.where)}" if row.where else ""
        yield f"not a CUDA graph{place}: {row.skipped}"
    for one in again(dump, row):
        inputs = f" ({', '.join(one.inputs[:3])}{', …' if len(one.inputs) > 3 else ''})" if one.inputs else ""
        place = f" at {file_name(one.where)}" if one.where else ""
        yield f"{number_of(one.count, 'time')} again: {one.why}{inputs}{place}"
    if len(row.recordings) < row.recorded:
        yield f"{row.recorded - len(row.recordings):,} more recordings are not listed"


def graph_words(rows: Sequence[CudaGraph]) -> str:
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
