"""Two or more compiles beside each other: the rows of `diff`, and what each side has for the row under the cursor."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.causes.records import Cause
from inspect_compile.analysis.compare.content import content
from inspect_compile.analysis.compare.differences import Difference, compare
from inspect_compile.analysis.compare.pairing import Pairing
from inspect_compile.analysis.compare.replays import FIRST
from inspect_compile.analysis.compare.side_by_side import Side, SideRow, side_by_side
from inspect_compile.analysis.dumps.parts import as_compiled, parts, run_around
from inspect_compile.dump import Dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.columns import Column, cell
from inspect_compile.tables.compare.side_by_side import columns, difference_text
from inspect_compile.tables.styled_text import styled
from inspect_compile.tables.text import number_of, one_line
from inspect_compile.tui.models import causes as told_of
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.code import NOTHING, Code, CodeLine, SheetLine
from inspect_compile.tui.models.kernels import SHORT_NOTE, kernel_source
from inspect_compile.tui.models.sheet import Row, Table
from inspect_compile.tui.models.wrapper import output_file


@dataclass
class Comparison:
    """What was found, and what it takes to show a row. Built and asked on the reader's thread."""

    sides: Sequence[Side]
    table: Table
    summary: str
    """How much differs, in words."""
    rows: dict[str, SideRow | Difference | Cause] = field(default_factory=dict)
    """Key of a row of the table → what it is about."""
    _chains: dict[tuple[int, str], Chain] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """Index of the row to begin with: the first that is no title."""
        return next((place for place in range(len(self.table)) if self.table.key(place) in self.rows), 0)

    def story(self, key: str, width: int) -> Code:
        """What a cause is, wrapped to a width in columns; nothing for another row."""
        row = self.rows.get(key)
        return told_of.story(row, width) if isinstance(row, Cause) else NOTHING

    def beside(self, key: str, *, is_whole: bool = False, width: int = 80) -> list[Code]:
        """For each side what it has for a row: a kernel's source, the lines that it alone has, or what it has at the
        level of a cause, wrapped to a width in columns.
        """
        row = self.rows.get(key)
        if isinstance(row, Cause):
            place = {row.a_name: False, row.b_name: True}
            return [
                told_of.side(row, is_b=place[side.name], width=width) if side.name in place else NOTHING
                for side in self.sides
            ]
        if isinstance(row, Difference):
            texts = {row.a_name: row.a, row.b_name: row.b}
            return [_only(side.name, texts.get(side.name)) for side in self.sides]
        if row is None or not row.kernel:
            return [NOTHING for _ in self.sides]
        return [self._source(place, row, is_whole=is_whole) for place in range(len(self.sides))]

    def _source(self, place: int, row: SideRow, *, is_whole: bool) -> Code:
        side, of = self.sides[place], row.sides[place]
        if of is None:
            return Code([styled(side.name, "title"), styled("it has no such kernel", "dim")])
        key = place, of.graph
        if key not in self._chains:
            self._chains[key] = Chain(CompiledGraph(side.dump, of.graph))
        chain = self._chains[key]
        kernel = next(one for one in chain.kernels if one.name == of.kernel)
        output = output_file(CompiledGraph(side.dump, chain.graph))
        source = kernel_source(side.dump, chain, kernel, output, SHORT_NOTE, is_whole=is_whole)
        return Code([styled(side.name, "title"), *map(_without_subject, source.lines)])


def comparison(sides: Sequence[Side]) -> Comparison:
    """Compare them: why the others differ from the first, the graphs and kernels, then every difference."""
    rows = side_by_side(sides)
    names = [side.name for side in sides]
    first = content(sides[0].dump)
    why: list[Cause] = []
    found: list[Difference] = []
    for side in sides[1:]:
        two = sides[0].name, side.name
        both = Pairing(first, content(side.dump))
        why += causes(both, two)
        if not side.dump.run.replay_of:
            found += compare(both, two)
    known: dict[str, SideRow | Difference | Cause] = {}
    lines: list[Row] = []
    for line, cause in told_of.cause_rows(why):
        lines.append(line)
        if cause is not None:
            known[line.key] = cause
    if why:
        lines.append(Row.title("kernels", "kernels"))
    shown: tuple[Column[SideRow], ...] = columns(names)
    for row in rows:
        key = f"{row.graph} {row.kernel} {'' if row.sides[0] is not None else row.names}"
        known[key] = row
        lines.append(Row.of(shown, row, key, None))
    if found:
        lines.append(Row.title("differences", number_of(len(found), "difference")))
    for number, difference in enumerate(found):
        key = f"difference {number}"
        known[key] = difference
        words = f"{difference.kind.replace('_', ' ')}  {one_line(difference.message)}"
        lines.append(Row(key, (cell(words),), heading=True))
    return Comparison(sides, Table(shown, lines), difference_text(rows), known)


class Beside(NamedTuple):
    """What can be shown beside each other, and how to have the same elsewhere."""

    sides: Sequence[Side]
    command: str
    """The shell command that compares them."""
    drawing: tuple[str, ...] = ()
    """Arguments of `inspect-compile` that draw them; none if there is no such picture."""


def sides_of(dump: Dump, part: Path | None = None) -> Beside | None:
    """What a dump can be held against: its ranks, a replay beside the first compile, or `part`, another process of its
    run. None if there is nothing.
    """
    around = run_around(dump)
    if around is not None and dump.run.replay_of:
        return sides_of(around, dump.root)
    run = dump if around is None else around
    ranks = as_compiled(run)
    others = parts(run)
    chosen = next((one for one in others if one.dump.root == part), None)
    if len(ranks) > 1 and (chosen is None or chosen.rank is not None):
        sides = [Side(f"rank {rank}", one.dump) for rank, one in sorted(ranks.items())]
        drawing = "draw", str(run.root.absolute()), "ranks"
        return Beside(sides, shlex.join(["inspect-compile", "show", str(run.root), "ranks"]), drawing)
    again = chosen or next((one for one in others if one.replay is not None), None)
    if again is None:
        return None
    table = ["show", str(run.root), "replays"] if again.replay is not None else ["diff", str(run.root), str(part)]
    return Beside([Side(FIRST, run), Side(again.name, again.dump)], shlex.join(["inspect-compile", *table]))


def _without_subject(line: SheetLine) -> SheetLine:
    return line._replace(subject=None) if isinstance(line, CodeLine) else line


def _only(name: str, lines: Sequence[str] | None) -> Code:
    head = styled(f"only {name}", "title")
    return Code([head, *(styled(one_line(line)) for line in lines or ())]) if lines is not None else NOTHING
