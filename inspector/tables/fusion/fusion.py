"""What was fused and what was not: a summary, or every attempt with the named operations."""

from typing import TYPE_CHECKING

from rich.console import RenderableType

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.fusion.ledger import Candidate
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import GraphFusion
from inspect_compile.analysis.fusion.outcome import fusion as analyse
from inspect_compile.analysis.lookup.attempts import FusionFilter, attempts_at, find_attempts
from inspect_compile.facts import Graph, Node
from inspect_compile.knowledge.fusion.reasons import UNKNOWN, by_code, words_of
from inspect_compile.tables.fusion.why_text import (
    apart_words,
    left_out_lines,
    order_words,
    round_words,
    saved_words,
    score_words,
)
from inspect_compile.tables.lookup_text import only
from inspect_compile.tables.parts import command, listing, more, title, why_command
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import byte_text, number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

_ATTEMPTS = (
    Column("round", right=True),
    Column("a", cap=0.26),
    Column("b", cap=0.26),
    Column("verdict"),
    Column("torch's score", right=True),
    Column("code", least=90),
    Column("", flex=True),
)
_MISSES = (
    Column("could save", right=True),
    Column("torch's score", right=True, least=110),
    Column("line", cap=0.2, least=70),
    Column("a", cap=0.22),
    Column("b", cap=0.22),
    Column("because", cap=0.3),
    Column("", flex=True, least=100),
)
_CODES = (Column("refused for", cap=0.4), Column("times", right=True), Column("", flex=True))
_STYLES = {"fused": "green", "refused": "red", "legal": "yellow"}
_FEW_MISSES = 12
_MISSED = "What stayed apart although it shares bytes"


def fusion(
    dump: "Dump",
    graph: str | None = None,
    *,
    names: tuple[str, ...] = (),
    limit: int | None = None,
    dump_argument: str = "",
    reason: str | None = None,
    line: str | None = None,
    in_round: int | None = None,
) -> RenderableType:
    """For each graph: pairs that stayed apart although they share bytes, and why pairs were refused.

    With `names` or an option each attempt; where options choose, and not all are shown, those that share most first.
    """
    asked = only(find_attempts(dump, graph, reason=reason, line=line, in_round=in_round))
    if names or not asked.is_all or limit is None:
        given = {"--reason": reason, "--line": line, "--round": in_round}
        words = tuple(word for option, value in given.items() if value is not None for word in (option, str(value)))
        return _attempts(dump, graph, names, limit, dump_argument, asked, words)
    parts: list[RenderableType] = []
    for found in graphs_of(dump, graph):
        parts += _short(dump, analyse(dump, found.graph), found, dump_argument)
    return Stack(parts or [styled(nothing_text(dump), style="dim")])


def _attempts(
    dump: "Dump",
    graph: str | None,
    names: tuple[str, ...],
    limit: int | None,
    dump_argument: str,
    asked: FusionFilter,
    words: tuple[str, ...],
) -> RenderableType:
    def rows(found: Graph) -> list[Candidate]:
        every = attempts_at(dump, found.graph, names)
        if asked.is_all:
            return every
        kept = [row for row in every if asked(row)]
        return kept if limit is None else sorted(kept, key=lambda row: -(row.shared_bytes or 0))

    return listing(
        dump,
        graph,
        rows,
        _attempt_cells,
        _ATTEMPTS,
        name="fusion",
        told=lambda found: number_of(len(found), "attempt") + (f" at {' and '.join(names)}" if names else ""),
        limit=limit,
        dump_argument=dump_argument,
        asked=words,
        none="the scheduler looked at no such pair",
    )


def _attempt_cells(row: Candidate) -> list[Cell]:
    outcome = f"→ {row.into}" if row.into and not row.reason else one_line(row.reason)
    if row.milliseconds:
        outcome = round_words(row)
    if row.code and by_code(row.code) is None:
        outcome = f"{outcome} ({UNKNOWN})"
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


def _short(dump: "Dump", found: GraphFusion, graph: Graph, dump_argument: str) -> list[RenderableType]:
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    rounds = f"{number_of(found.rounds, 'round')}: {told}" if found.rounds else told
    which = ("--graph", graph.graph)
    every = joined(("every look at a pair", "dim"), "   ", (command(dump_argument, "fusion", *which, "--all"), "cyan"))
    sheets: list[RenderableType] = [title(graph, rounds)]
    missed = [*found.apart, *found.beside]
    if missed:
        where = {
            (node.graph, node.name): place_text(node.where)
            for node in dump.rows(Node, graph.graph)
            if node.stage == "post_grad" and node.where is not None
        }
        left = len(missed) - _FEW_MISSES
        notes: list[Cell] = [more(left, "in fusion.txt of the dump")] if left > 0 else []
        again = why_command(dump_argument, missed[0].a, missed[0].b, *which)
        notes.append(joined(("the whole story of the first", "dim"), "   ", (again, "cyan")))
        if found.beside_calls:
            calls = f"{number_of(len(found.beside_calls), 'more pair')} with a library call: never tried"
            saved = byte_text(graph_bytes(dump, graph.graph).at_calls)
            notes.append(styled(f"{calls}, up to {saved} in all", "dim"))
        notes += [styled(line, "dim") for line in left_out_lines(found.left_out)]
        rows = [_miss_cells(miss, where) for miss in missed[:_FEW_MISSES]]
        sheets.append(
            Sheet(_MISSES, rows, title=styled(f"{_MISSED}, {order_words(missed)}", style="bold"), notes=notes)
        )
    codes = [[code, f"{count:,}", words_of(code) or UNKNOWN] for code, count in found.codes.items()]
    if codes:
        sheets.append(Sheet(_CODES, codes, notes=[every]))
    return sheets


def _miss_cells(miss: Miss, where: dict[tuple[str, str], str]) -> list[Cell]:
    line = next((where[miss.graph, node] for node in miss.nodes if (miss.graph, node) in where), "")
    return [saved_words(miss), score_words(miss), line, miss.a, miss.b, miss.code, styled(apart_words(miss), "dim")]
