"""Why two operations are, or are not, in one kernel: operations, rounds, indices, and what to do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.tables.fusion.why_text import (
    StyledLine,
    advice_lines,
    apart_words,
    difference_lines,
    order_words,
    round_words,
    saved_words,
    score_words,
    verdict_line,
)
from inspect_compile.tables.parts import title, why_command
from inspect_compile.tables.sheet import Cell, Column, Sheet, Stack, joined, styled
from inspect_compile.tables.text import clean, number_of, one_line, place_text

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.ledger import Candidate
    from inspect_compile.analysis.fusion.misses import Miss
    from inspect_compile.analysis.fusion.pair_story import GroupStory, PairStory, Side
    from inspect_compile.dump import Dump

STYLES: Final = {"fused": "green", "refused": "red", "legal": "yellow", "put-off": "yellow", "slower": "red"}
"""Style of each verdict; others are dim."""
_SIDES: Final = (
    Column("", style="bold"),
    Column("", style="dim"),
    Column(""),
    Column("", cap=0.3, least=100, style="dim"),
    Column("", flex=True),
)
_ROUNDS: Final = (
    Column("round", right=True),
    Column("a", cap=0.24),
    Column("b", cap=0.24),
    Column("verdict"),
    Column("code"),
    Column("", flex=True, wraps=True),
)
_MISSES: Final = (
    Column("could save", right=True),
    Column("torch's score", right=True, least=110),
    Column("with", cap=0.3),
    Column("because"),
    Column("buffers", cap=0.24, least=100),
    Column("", flex=True),
)
_MOST_ROUNDS: Final = 12
_MOST_OTHERS: Final = 6
_MOST_STOPPED: Final = 12
_LOOK: Final = {"good": "green", "bad": "red", "warn": "yellow", "dim": "dim"}


def pair(story: "PairStory", dump_argument: str, *, is_asking_try: bool = False) -> Stack:
    """The whole story of one pair. `dump_argument` is the dump as the user typed it."""
    parts: list[RenderableType] = [_sides(story.a, story.b), _line(verdict_line(story))]
    if story.rounds:
        parts.append(_rounds(story.rounds, story.score_parts))
    if story.differences:
        parts.append(Stack([_line(line) for line in difference_lines(story)], gap=False))
    if last := list(_what_to_do(story, dump_argument, is_asking_try)):
        parts.append(Stack(last, gap=False))
    if story.others:
        parts.append(Stack(list(_others(story, dump_argument)), gap=False))
    return Stack(parts)


def heading(dump: "Dump", graph: str, *, is_first: bool) -> Stack:
    """The title of a graph where the stories of several stand below each other."""
    found = dump.graph(graph)
    head = title(found) if found is not None else styled(graph, "bold")
    return Stack([head] if is_first else ["", head], gap=False)


def group(story: "GroupStory", dump_argument: str) -> Stack:
    """How a scheduler node grew, and what stopped it."""
    ran = clean(story.kernel) or "no kernel runs it"
    count = number_of(len(story.members), "operation")
    head = joined((clean(story.group), "bold"), f"  {count}  ", (ran, "cyan"))
    parts: list[RenderableType] = [
        Stack([head, Sheet(_SIDES, [_side_cells(side) for side in story.members])], gap=False)
    ]
    if story.grown:
        title = styled("How it grew", "bold")
        parts.append(Stack([title, _rounds(story.grown, story.score_parts)], gap=False))
    elif len(story.members) == 1:
        parts.append(styled("It was fused with nothing."))
    parts.append(_stopped(story, dump_argument))
    return Stack(parts)


def _sides(*sides: "Side") -> Sheet:
    return Sheet(_SIDES, [_side_cells(side) for side in sides])


def _side_cells(side: "Side") -> list[Cell]:
    where = place_text(side.where)
    code = one_line(side.where.code) if side.where is not None else ""
    what = " ".join(part for part in (side.kind, clean(side.node)) if part)
    return [side.operation, what, joined(where, one_line=True), code, side.kernel or "no kernel"]


def _rounds(rounds: "tuple[Candidate, ...]", score_parts: tuple[str, ...]) -> Sheet:
    shown = rounds[:_MOST_ROUNDS]
    notes: list[Cell] = []
    if len(rounds) > len(shown):
        notes.append(styled(f"… {number_of(len(rounds) - len(shown), 'more round')}", "dim"))
    return Sheet(_ROUNDS, [_round_cells(row, score_parts) for row in shown], notes=notes)


def _round_cells(row: "Candidate", score_parts: tuple[str, ...]) -> list[Cell]:
    return [
        str(row.round),
        row.a,
        row.b,
        styled(row.verdict, STYLES.get(row.verdict, "dim")),
        row.code,
        styled(round_words(row, score_parts), "dim"),
    ]


def _what_to_do(story: "PairStory", dump_argument: str, is_asking_try: bool) -> Iterator[RenderableType]:
    for line in advice_lines(story):
        yield _line(line)
    if story.outcome == "apart" and story.knobs and story.legality != "illegal" and not is_asking_try:
        again = why_command(dump_argument, story.a.operation, story.b.operation, "--graph", story.graph, "--try")
        yield joined("To see what the knob does: ", (again, "cyan"))


def _line(line: StyledLine) -> Text:
    return styled(line.text, _LOOK.get(line.role, ""))


def _others(story: "PairStory", dump_argument: str) -> Iterator[RenderableType]:
    yield styled("The names also match", "bold")
    for a, b in story.others[:_MOST_OTHERS]:
        yield joined(f" {clean(a)} × {clean(b)}   ", (why_command(dump_argument, a, b, "--graph", story.graph), "cyan"))
    if len(story.others) > _MOST_OTHERS:
        yield styled(f" … {number_of(len(story.others) - _MOST_OTHERS, 'more pair')}", "dim")


def _stopped(story: "GroupStory", dump_argument: str) -> Sheet:
    if not story.stopped:
        return Sheet(_MISSES, [], title=styled("It shares no bytes with any other scheduler node.", "bold"))
    rows = [_stopped_cells(miss, story) for miss in story.stopped[:_MOST_STOPPED]]
    left = len(story.stopped) - len(rows)
    notes: list[Cell] = [styled(f"… {number_of(left, 'more', 'more')}", "dim")] if left > 0 else []
    first = story.stopped[0]
    again = why_command(dump_argument, first.a, first.b, "--graph", story.graph)
    notes.append(joined(("the whole story of the first   ", "dim"), (again, "cyan")))
    told = f"What stopped it from growing, {order_words(story.stopped)}"
    return Sheet(_MISSES, rows, title=styled(told, "bold"), notes=notes)


def _stopped_cells(miss: "Miss", story: "GroupStory") -> list[Cell]:
    other = miss.b if miss.a == story.group else miss.a
    return [
        saved_words(miss),
        score_words(miss),
        other,
        miss.code,
        " ".join(miss.buffers[:4]),
        styled(apart_words(miss), "dim"),
    ]
