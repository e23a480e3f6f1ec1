"""What was fused and what was not: in short, or every attempt at the operations that are named."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.about import attempts_at
from inspect_compile.analysis.fusion import GraphFusion
from inspect_compile.analysis.fusion import fusion as analyse
from inspect_compile.analysis.ledger import Candidate
from inspect_compile.analysis.misses import Miss
from inspect_compile.facts import Graph
from inspect_compile.knowledge.fusion_reasons import UNKNOWN, words_of
from inspect_compile.tables.parts import command, listing, more, title
from inspect_compile.tables.row_sources import graphs_of
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import byte_text, number_of, one_line

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_ATTEMPTS = (
    Column("round", right=True),
    Column("a", cap=0.26),
    Column("b", cap=0.26),
    Column("verdict"),
    Column("shared", right=True),
    Column("code", least=90),
    Column("", flex=True),
)
_MISSES = (
    Column("shared", right=True),
    Column("a", cap=0.24),
    Column("b", cap=0.24),
    Column("because", cap=0.3),
    Column("buffers", cap=0.2, least=100),
    Column("", flex=True),
)
_CODES = (Column("refused for", cap=0.4), Column("times", right=True), Column("", flex=True))
_STYLES = {"fused": "green", "refused": "red", "legal": "yellow"}
_FEW_MISSES = 12


def fusion(
    dump: "Dump", graph: str | None = None, *, names: tuple[str, ...] = (), limit: int | None = None, said: str = ""
) -> RenderableType:
    """Of each graph: why pairs were refused, and which of them share bytes all the same. With `names` each attempt."""
    if names or limit is None:
        return _attempts(dump, graph, names, limit, said)
    parts: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        parts += _short(analyse(dump, found.graph), found, said)
    return Stack(parts or [styled("nothing was compiled", style="dim")])


def _attempts(dump: "Dump", graph: str | None, names: tuple[str, ...], limit: int | None, said: str) -> RenderableType:
    def rows(found: Graph) -> list[Candidate]:
        return attempts_at(dump, found.graph, names)

    return listing(
        dump,
        graph,
        rows,
        _attempt_cells,
        _ATTEMPTS,
        name="fusion",
        told=lambda found: number_of(len(found), "attempt") + (f" at {' and '.join(names)}" if names else ""),
        limit=limit,
        said=said,
        none="the scheduler looked at no such pair",
    )


def _attempt_cells(row: Candidate) -> list[Cell]:
    outcome = f"→ {row.into}" if row.into and not row.reason else one_line(row.reason)
    style = _STYLES.get(row.verdict, "")
    return [
        str(row.round),
        row.a,
        row.b,
        styled(row.verdict, style=style),
        "" if row.shared_bytes is None else byte_text(row.shared_bytes),
        row.code,
        outcome,
    ]


def _short(found: GraphFusion, graph: Graph, said: str) -> list[RenderableType]:
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    which = ("--graph", graph.graph)
    every = joined(("every attempt", "dim"), "   ", (command(said, "fusion", *which, "--all"), "cyan"))
    rounds = f"{number_of(found.rounds, 'round')}: {told}" if found.rounds else told
    codes = [[code, f"{count:,}", words_of(code) or UNKNOWN] for code, count in found.codes.items()]
    sheets: list[RenderableType] = [Sheet(_CODES, codes, title=title(graph, rounds), notes=[every] if codes else [])]
    if found.misses:
        left = len(found.misses) - _FEW_MISSES
        notes: list[Cell] = [more(left, "in fusion.txt of the dump")] if left > 0 else []
        rows = [_miss_cells(miss) for miss in found.misses[:_FEW_MISSES]]
        head = styled("Apart although they share bytes, the dearest first", style="bold")
        sheets.append(Sheet(_MISSES, rows, title=head, notes=notes))
    return sheets


def _miss_cells(miss: Miss) -> list[Cell]:
    together = styled("two loops of one kernel", style="dim") if miss.one_kernel else styled("")
    return [byte_text(miss.shared_bytes), miss.a, miss.b, miss.code, " ".join(miss.buffers[:4]), together]
