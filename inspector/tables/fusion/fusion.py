"""What was fused and what was not: a summary, or every attempt with the named operations."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import GraphFusion, RefusalCount
from inspect_compile.analysis.fusion.outcome import fusion as analyse
from inspect_compile.analysis.fusion.pair_story import GroupStory, Side
from inspect_compile.analysis.lookup.attempts import find_attempts
from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.fusion.ledger import Candidate, candidates
from inspect_compile.knowledge.fusion.reasons import UNKNOWN
from inspect_compile.tables.columns import Cell, Column, cell, place_cell
from inspect_compile.tables.fusion.why_text import (
    apart_text,
    attempt_text,
    left_out_lines,
    order_text,
    part_cell,
    round_text,
    saved_text,
    score_text,
)
from inspect_compile.tables.lookup_text import only
from inspect_compile.tables.parts import DeclaredTable, Listing, Request, first_of, recorded, title, why_command
from inspect_compile.tables.styled_text import Block, Table, pointer, styled
from inspect_compile.tables.text import byte_text, code_text, number_of, one_line

_FEW_MISSES: Final = 12
_MISSED: Final = "Pairs that share bytes but were not fused"
_ROLES: Final = {"fused": "good", "refused": "bad", "allowed": "warn", "deferred": "warn", "slower": "bad"}
"""Role of each verdict; others are dim."""
_MOST_BUFFERS: Final = 4


def _verdict(row: Candidate) -> Cell:
    return cell(row.verdict, _ROLES.get(row.verdict, "dim"))


def _part(row: Miss, index: int) -> Cell:
    """One of the two places: `softmax · model.py:9`."""
    return part_cell(row.parts[index]) if index < len(row.parts) else ()


def _apart_role(row: Miss) -> str:
    return "warn" if row.is_apart else "dim"


_PAIR: Final[tuple[Column[Candidate], ...]] = (
    Column("round", lambda row: str(row.round), role="dim", right=True, drop=3),
    Column("a", lambda row: row.a, role="name", stretch=True, least=8, most=36),
    Column("b", lambda row: row.b, role="name", stretch=True, least=8, most=36),
    Column("verdict", _verdict),
)
_CODE: Final[Column[Candidate]] = Column(
    "code", lambda row: row.code, stretch=True, least=18, most=24, drop=4, optional=True
)

ATTEMPTS: Final[tuple[Column[Candidate], ...]] = (
    *_PAIR,
    Column(
        "torch's score",
        lambda row: "" if row.shared_bytes is None else byte_text(row.shared_bytes),
        role="accent",
        right=True,
        drop=2,
    ),
    _CODE,
    Column("outcome", attempt_text, role="dim", stretch=True, least=16, most=90),
)
"""Each attempt to fuse a pair."""

ROUNDS: Final[tuple[Column[Candidate], ...]] = (
    *_PAIR,
    _CODE,
    Column("outcome", round_text, role="dim", stretch=True, least=20, most=120, wraps=True, optional=True),
)
"""What became of one pair, round by round."""

_SAVED: Final[Column[Miss]] = Column("could save", lambda row: cell(saved_text(row), _apart_role(row)), right=True)
_SCORE: Final[Column[Miss]] = Column("torch's score", score_text, role="dim", right=True, drop=5)
_REASON: Final[Column[Miss]] = Column("reason", apart_text, role="dim", stretch=True, least=24, most=90, drop=1)
_CODES: Final[tuple[Column[Miss], ...]] = (
    Column("code", lambda row: cell(row.code, _apart_role(row)), stretch=True, least=11, most=24, drop=2),
    Column("buffers", lambda row: " ".join(row.buffers[:_MOST_BUFFERS]), role="dim", stretch=True, least=8, drop=4),
)

MISSES: Final[tuple[Column[Miss], ...]] = (
    _SAVED,
    Column("first", lambda row: _part(row, 0), stretch=True, least=20, most=56),
    Column("second", lambda row: _part(row, 1), stretch=True, least=20, most=56),
    _REASON,
    *_CODES,
    Column("a", lambda row: row.a, role="dim", stretch=True, least=8, most=36, drop=3),
    Column("b", lambda row: row.b, role="dim", stretch=True, least=8, most=36, drop=3),
    _SCORE,
)
"""Pairs that share bytes and ended apart."""
_IN_LOG: Final[Column[Miss]] = Column(
    "in the log", lambda row: " · ".join(row.in_log), stretch=True, least=20, optional=True, drop=2
)


class Stopped(NamedTuple):
    """A pair that stayed apart, as one of its two scheduler nodes sees it."""

    miss: Miss
    other: str
    """The other node."""


def stopped_rows(story: "GroupStory") -> list[Stopped]:
    """What stopped a scheduler node from growing, in the order of the story."""
    return [Stopped(miss, miss.b if miss.a == story.group else miss.a) for miss in story.stopped]


STOPPED: Final[tuple[Column[Stopped], ...]] = (
    _SAVED.through(lambda row: row.miss),
    Column("with", lambda row: _part(row.miss, int(row.other == row.miss.b)), stretch=True, least=18, most=56),
    *(column.through(lambda row: row.miss) for column in (_REASON, *_CODES)),
    Column("name", lambda row: row.other, role="dim", stretch=True, least=12, most=36, drop=3),
    _SCORE.through(lambda row: row.miss),
)

REFUSALS: Final[tuple[Column[RefusalCount], ...]] = (
    Column("refused for", lambda row: row.code, stretch=True, least=20, most=40),
    Column("times", lambda row: f"{row.count:,}", right=True),
    Column("meaning", lambda row: row.meaning or UNKNOWN, stretch=True, least=20, most=120),
)

SIDES: Final[tuple[Column[Side], ...]] = (
    Column("line", lambda row: place_cell(row.where), stretch=True, least=20, most=44),
    Column("source", lambda row: code_text(row.where), stretch=True, least=16, most=48, drop=1),
    Column("operation", lambda row: row.operation, role="strong"),
    Column("kind", lambda row: row.kind, role="dim", drop=3),
    Column("node", lambda row: one_line(row.node), role="dim", stretch=True, least=8, most=30, drop=2),
    Column("kernel", lambda row: row.kernel or "no kernel", stretch=True, least=26, most=60, middle=True),
)
"""The operations that a story is about."""


def fusion(
    request: Request, *, reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> Block:
    """For each graph: pairs that stayed apart although they share bytes, and why pairs were refused.

    With names or an option each attempt; where options choose, and not all are shown, those that share most first.
    """
    asked = only(find_attempts(request.graphs, reason=reason, line=line, in_round=in_round))
    names, limit = request.names, request.limit
    if not names and asked.is_all and limit is not None:
        return request.stacked([sheet for graph in request.graphs for sheet in _summary(request, graph)])

    def rows(graph: "CompiledGraph") -> list[Candidate]:
        kept = list(filter(asked, candidates(graph)))
        is_sorted = not asked.is_all and limit is not None
        return sorted(kept, key=lambda row: -(row.shared_bytes or 0)) if is_sorted else kept

    given = {"--reason": reason, "--line": line, "--round": in_round}
    return Listing[Candidate](
        "fusion",
        ATTEMPTS,
        rows,
        summary=lambda found: number_of(len(found), "attempt") + (f" at {' and '.join(names)}" if names else ""),
        none="the scheduler considered no such pair",
        options=[word for option, value in given.items() if value is not None for word in (option, str(value))],
    )(request)


def _summary(request: Request, graph: CompiledGraph) -> list[Block]:
    found, which = analyse(graph), ("--graph", graph.name)
    sheets: list[Block] = [title(graph, found_text(found))]
    every = pointer("every time a pair was considered", request.command("fusion", *which, "--all"))
    if missed := [*found.apart, *found.beside]:
        shown, notes = first_of(missed, _FEW_MISSES, "in fusion.txt of the dump")
        again = why_command(request.dump_argument, missed[0].a, missed[0].b, *which)
        notes.append(pointer("the whole story of the first", again))
        if found.beside_calls:
            calls = f"{number_of(len(found.beside_calls), 'more pair')} with a library call: never tried"
            saved = byte_text(graph_bytes(graph).at_calls)
            notes.append(styled(f"{calls}, up to {saved} in all", "dim"))
        notes += [styled(line, "dim") for line in left_out_lines(found.left_out)]
        head = styled(f"{_MISSED}, {order_text(missed)}", "strong")
        sheets.append(Table((*MISSES[:-1], _IN_LOG, MISSES[-1]), shown, title=head, notes=notes))
    if found.refusals:
        sheets.append(Table(REFUSALS, found.refusals, notes=[every]))
    return sheets


def found_text(found: GraphFusion) -> str:
    """`3 rounds: 5 fused, 12 refused`: every time a pair was considered, by its verdict."""
    verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items()) or "no pair was tried"
    return f"{number_of(found.rounds, 'round')}: {verdicts}" if found.rounds else verdicts


def _rows(
    graphs: Graphs, reason: str | None = None, line: str | None = None, in_round: int | None = None
) -> Iterator[Candidate | Miss | RefusalCount]:
    asked = only(find_attempts(graphs, reason=reason, line=line, in_round=in_round))
    for graph in graphs:
        yield from filter(asked, candidates(graph))
        if asked.is_all:
            summed_up = analyse(graph)
            yield from summed_up.misses
            yield from summed_up.refusals


TABLE: Final = DeclaredTable(fusion, _rows, recorded(FusionRound, FusionLooks, FusionOrder, FusionCombo))
