"""The columns of attempts to fuse, of pairs that stayed apart, and of what is told of a pair.

May not know rich or textual: the text files of a dump are written with them.
"""

from typing import Final

from inspect_compile.analysis.fusion.ledger import Candidate
from inspect_compile.analysis.fusion.misses import Miss
from inspect_compile.analysis.fusion.outcome import RefusalCount
from inspect_compile.analysis.fusion.pair_story import Side
from inspect_compile.knowledge.fusion.reasons import UNKNOWN
from inspect_compile.tables.columns import Cell, Column, cell
from inspect_compile.tables.fusion.why_text import apart_words, outcome_words, round_words, saved_words, score_words
from inspect_compile.tables.text import byte_text, code_text, one_line, place_text

_ROLES: Final = {"fused": "good", "refused": "bad", "legal": "warn", "put-off": "warn", "slower": "bad"}
"""Role of each verdict; others are dim."""
_MOST_BUFFERS: Final = 4


def _verdict(row: Candidate) -> Cell:
    return cell(row.verdict, _ROLES.get(row.verdict, "dim"))


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
    Column("outcome", outcome_words, role="dim", stretch=True, least=16, most=90),
)
"""Each attempt to fuse a pair."""

ROUNDS: Final[tuple[Column[Candidate], ...]] = (
    *_PAIR,
    _CODE,
    Column("outcome", round_words, role="dim", stretch=True, least=20, most=120, wraps=True, optional=True),
)
"""What became of one pair, round by round."""

_SAVED: Final[Column[Miss]] = Column(
    "could save",
    lambda row: cell(saved_words(row), _apart_role(row)),
    right=True,
)
_SCORE: Final[Column[Miss]] = Column("torch's score", score_words, role="dim", right=True, drop=3)
_WHY: Final[tuple[Column[Miss], ...]] = (
    Column("code", lambda row: cell(row.code, _apart_role(row)), stretch=True, least=11, most=24),
    Column("buffers", lambda row: " ".join(row.buffers[:_MOST_BUFFERS]), stretch=True, least=8, most=24, drop=4),
    Column("reason", apart_words, role="dim", stretch=True, least=24, most=90, drop=2),
)

MISSES: Final[tuple[Column[Miss], ...]] = (
    _SAVED,
    _SCORE,
    Column("line", lambda row: place_text(row.where), role="dim", stretch=True, least=11, most=30, drop=1),
    Column("a", lambda row: row.a, role="name", stretch=True, least=8, most=36),
    Column("b", lambda row: row.b, role="name", stretch=True, least=8, most=36),
    *_WHY,
)
"""Pairs that share bytes and ended apart."""


def misses_of(group: str) -> tuple[Column[Miss], ...]:
    """The same for the pairs of one scheduler node, which show the other node alone."""
    other: Column[Miss] = Column(
        "with", lambda row: row.b if row.a == group else row.a, role="name", stretch=True, least=12, most=36
    )
    return (_SAVED, _SCORE, other, *_WHY)


REFUSALS: Final[tuple[Column[RefusalCount], ...]] = (
    Column("refused for", lambda row: row.code, stretch=True, least=20, most=40),
    Column("times", lambda row: f"{row.count:,}", right=True),
    Column("meaning", lambda row: row.meaning or UNKNOWN, stretch=True, least=20, most=120),
)

SIDES: Final[tuple[Column[Side], ...]] = (
    Column("operation", lambda row: row.operation, role="strong"),
    Column("kind", lambda row: row.kind, role="dim"),
    Column("node", lambda row: one_line(row.node), role="dim", stretch=True, least=8, most=30),
    Column("line", lambda row: place_text(row.where), stretch=True, least=11, most=30),
    Column(
        "source",
        lambda row: code_text(row.where),
        role="dim",
        stretch=True,
        least=16,
        most=48,
        drop=1,
    ),
    Column("kernel", lambda row: row.kernel or "no kernel", stretch=True, least=34, most=60, middle=True),
)
"""The operations that a story is about."""
