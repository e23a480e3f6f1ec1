"""What the second compile of a log's graphs adds to the page: what the log itself does not hold, marked as such."""

from collections.abc import Iterator

from inspect_compile import tables
from inspect_compile.analysis.compare.second_compile import agreement
from inspect_compile.analysis.dumps.parts import asked as asked_for
from inspect_compile.analysis.dumps.parts import replays
from inspect_compile.errors import CommandError
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.origins import unknown_text
from inspect_compile.report import pictures
from inspect_compile.report.blocks import shown
from inspect_compile.report.links import Links
from inspect_compile.report.markup import Markup, element
from inspect_compile.report.sections import FEW_GRAPHS, ReportRequest, Section, folded
from inspect_compile.tables.compare.second_compile import agreement_text
from inspect_compile.tables.text import number_of, one_line

_ALSO = ("kernels",)
"""Tables that a log has, too: their kernels are named after the log's beside their own names."""


def second_compiles(asked: ReportRequest) -> Iterator[Section]:
    """A section for each graph of a log that was compiled again; none for a dump that was recorded."""
    origin = asked.dump.run.origin
    found = [(number, part.dump) for number, part in replays(asked.dump).items()] if origin else []
    compiled = [(number, dump) for number, dump in found if dump.graph(dump.run.replay_of) is not None]
    for number, dump in compiled[:FEW_GRAPHS]:
        name = dump.run.replay_of
        graph = CompiledGraph(dump, name)
        how = agreement_text(agreement(CompiledGraph(asked.dump, name), graph))
        target = asked_for(dump.run.target, dump.run.config)
        words = f"Not of the log: {name} was compiled again on this machine{f' for {target}' if target else ''}. {how}"
        request = ReportRequest(dump, f"{asked.name} --replay {number}", asked.rows, asked.budget)
        blocks = [element("p", one_line(words), class_="warn"), *_tables(request, origin, f"again{number}-")]
        blocks += [drawn for drawn in pictures.pictures(graph) if drawn]
        yield Section(f"again{number}", f"Compiled again: {one_line(name)}", blocks)
    if len(compiled) > FEW_GRAPHS:
        left = number_of(len(compiled) - FEW_GRAPHS, "more graph")
        note = element("p", f"{left}: inspect-compile show {asked.name} replays")
        yield Section("againmore", "Compiled again: others", [note])


def _tables(asked: ReportRequest, origin: str, place: str) -> Iterator[Markup]:
    """The tables of a second compile that its log has nothing for, and those that name the log's kernels."""
    for _, _, names in tables.SECTIONS:
        for name in names:
            if name not in _ALSO and not unknown_text(origin, name):
                continue
            try:
                block = tables.table(name, Graphs(asked.dump), limit=asked.rows, dump_argument=asked.argument)
                found = shown(block, Links(dump=asked.argument))
            except CommandError:
                continue  # nothing that a compile on its own has
            if found.rows:
                yield folded(name, found, place)
