"""Why two operations are, or are not, in one kernel: operations, rounds, indices, and what to do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from inspect_compile.tables.fusion.fusion import ROUNDS, SIDES, STOPPED, stopped_rows
from inspect_compile.tables.fusion.why_text import (
    OUTCOMES,
    advice_lines,
    between_lines,
    difference_lines,
    order_text,
    verdict_line,
)
from inspect_compile.tables.parts import title, why_command
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, Table, joined, pointer, styled
from inspect_compile.tables.text import clean, number_of

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_story import GroupStory, PairStory
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.graph.fusion.ledger import Candidate

_MOST_ROUNDS: Final = 12
_MOST_OTHERS: Final = 6
_MOST_STOPPED: Final = 12


def pair(story: "PairStory", dump_argument: str, *, is_asking_try: bool = False) -> Stack:
    """The whole story of one pair. `dump_argument` is the dump as the user typed it."""
    parts: list[Block] = [Table(SIDES, (story.a, story.b)), verdict_line(story)]
    if between := list(between_lines(story)):
        parts.append(Stack(between, gap=False))
    if story.rounds:
        parts.append(_rounds(story.rounds))
    if story.differences:
        parts.append(Stack(list(difference_lines(story)), gap=False))
    if last := list(_what_to_do(story, dump_argument, is_asking_try)):
        parts.append(Stack(last, gap=False))
    if story.others:
        parts.append(Stack(_others(story, dump_argument), gap=False))
    return Stack(parts)


def heading(graph: "CompiledGraph", *, is_first: bool) -> Stack:
    """The title of a graph where the stories of several stand below each other."""
    found = graph.dump.graph(graph.name)
    head = title(graph) if found is not None else styled(graph.name, "strong")
    return Stack([head] if is_first else [styled(""), head], gap=False)


def group(story: "GroupStory", dump_argument: str) -> Stack:
    """How a scheduler node grew, and what stopped it."""
    ran = clean(story.kernel) or "no kernel runs it"
    count = number_of(len(story.members), "operation")
    head = joined((clean(story.group), "strong"), f"  {count}  ", (ran, "accent"))
    parts: list[Block] = [Table(SIDES, story.members, title=head)]
    if story.grown:
        title = styled("How it grew", "strong")
        parts.append(Stack([title, _rounds(story.grown)], gap=False))
    elif len(story.members) == 1:
        parts.append(styled("It was fused with nothing."))
    parts.append(_stopped(story, dump_argument))
    return Stack(parts)


def _rounds(rounds: "tuple[Candidate, ...]") -> "Table[Candidate]":
    return Table(ROUNDS, rounds[:_MOST_ROUNDS], notes=_left_out(len(rounds) - _MOST_ROUNDS, "more round"))


def _what_to_do(story: "PairStory", dump_argument: str, is_asking_try: bool) -> Iterator[Block]:
    yield from advice_lines(story)
    if story.outcome == "apart" and story.knobs and story.legality != "illegal" and not is_asking_try:
        again = why_command(dump_argument, story.a.operation, story.b.operation, "--graph", story.graph, "--try")
        yield joined("What a setting does: ", (again, "accent"))


def _others(story: "PairStory", dump_argument: str) -> Iterator[Block]:
    yield styled("Other matching pairs", "strong")
    for one in story.others[:_MOST_OTHERS]:
        names = dict.fromkeys((one.a, one.b))
        more = (why_command(dump_argument, *names, "--graph", story.graph), "accent")
        yield joined(f" {' × '.join(map(clean, names))}   {OUTCOMES[one.outcome]}   ", more)
    yield from (joined(" ", line) for line in _left_out(len(story.others) - _MOST_OTHERS, "more pair"))


def _stopped(story: "GroupStory", dump_argument: str) -> Block:
    if not story.stopped:
        return styled("It shares no bytes with any other scheduler node.", "strong")
    first = story.stopped[0]
    again = why_command(dump_argument, first.a, first.b, "--graph", story.graph)
    notes = _left_out(len(story.stopped) - _MOST_STOPPED, "more pair")
    notes.append(pointer("the whole story of the first", again))
    head = styled(f"What stopped it from growing, {order_text(story.stopped)}", "strong")
    return Table(STOPPED, stopped_rows(story)[:_MOST_STOPPED], title=head, notes=notes)


def _left_out(left: int, what: str) -> list[StyledLine]:
    return [styled(f"… {number_of(left, what)}", "dim")] if left > 0 else []
