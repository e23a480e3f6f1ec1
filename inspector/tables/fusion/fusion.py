"""What was fused and what was not: a summary, or every attempt with the named operations."""

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.dumps.graphs import graphs_of
from inspect_compile.analysis.dumps.nothing import nothing_text
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.fusion.ledger import Candidate
from inspect_compile.analysis.fusion.outcome import GraphFusion
from inspect_compile.analysis.fusion.outcome import fusion as analyse
from inspect_compile.analysis.lookup.attempts import FusionFilter, attempts_at, find_attempts
from inspect_compile.facts import Graph
from inspect_compile.tables.fusion.fusion_columns import ATTEMPTS, MISSES, REFUSALS
from inspect_compile.tables.fusion.why_text import left_out_lines, order_words
from inspect_compile.tables.lookup_text import only
from inspect_compile.tables.parts import command, listing, more, title, why_command
from inspect_compile.tables.styled_text import Stack, joined, styled
from inspect_compile.tables.terminal_table import TerminalTable
from inspect_compile.tables.text import byte_text, number_of

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

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
        ATTEMPTS,
        name="fusion",
        told=lambda found: number_of(len(found), "attempt") + (f" at {' and '.join(names)}" if names else ""),
        limit=limit,
        dump_argument=dump_argument,
        asked=words,
        none="the scheduler looked at no such pair",
    )


def _short(dump: "Dump", found: GraphFusion, graph: Graph, dump_argument: str) -> list[RenderableType]:
    told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    rounds = f"{number_of(found.rounds, 'round')}: {told}" if found.rounds else told
    which = ("--graph", graph.graph)
    every = joined(("every look at a pair", "dim"), "   ", (command(dump_argument, "fusion", *which, "--all"), "cyan"))
    sheets: list[RenderableType] = [title(graph, rounds)]
    missed = [*found.apart, *found.beside]
    if missed:
        left = len(missed) - _FEW_MISSES
        notes: list[str | Text] = [more(left, "in fusion.txt of the dump")] if left > 0 else []
        again = why_command(dump_argument, missed[0].a, missed[0].b, *which)
        notes.append(joined(("the whole story of the first", "dim"), "   ", (again, "cyan")))
        if found.beside_calls:
            calls = f"{number_of(len(found.beside_calls), 'more pair')} with a library call: never tried"
            saved = byte_text(graph_bytes(dump, graph.graph).at_calls)
            notes.append(styled(f"{calls}, up to {saved} in all", "dim"))
        notes += [styled(line, "dim") for line in left_out_lines(found.left_out)]
        shown = missed[:_FEW_MISSES]
        sheets.append(
            TerminalTable(MISSES, shown, title=styled(f"{_MISSED}, {order_words(missed)}", style="bold"), notes=notes)
        )
    if found.refusals:
        sheets.append(TerminalTable(REFUSALS, found.refusals, notes=[every]))
    return sheets
