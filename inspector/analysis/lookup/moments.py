"""Finds the moment of a call that a person names: a line of output_code.py, or the peak of its memory."""

from typing import Final, NamedTuple

from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown, unknown
from inspect_compile.analysis.memory.holders import Moment, holders, index_at, moment
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.memory.plan import Memory

_DIGITS: Final = 9
"""Of the number of a line, at most."""


class MomentOf(NamedTuple):
    """What one graph holds at a moment."""

    graph: CompiledGraph
    memory: Memory
    moment: Moment | None
    """None where its wrapper has no such line."""


def find_moments(graphs: Graphs, at: str) -> Answer[MomentOf]:
    """For each graph what is held after the line `at` of its output code, or at its `peak`."""
    if at != "peak" and not (at.isascii() and at.isdigit() and len(at) <= _DIGITS):
        return Unknown(at, "form of a moment", graphs.dump.root)
    asked = [(one, one.memory) for one in graphs]
    if not asked:
        return unknown(graphs.dump, at, "moment")
    if at != "peak" and all(index_at(found, at) is None for _, found in asked):
        there = tuple(f"{one.name}: {lines_text(found)}" for one, found in asked)
        return Unknown(at, "moment", graphs.dump.root, there=there)
    return Found(
        tuple(
            MomentOf(one, found, None if index is None else moment(found, holders(one, found), index))
            for one, found in asked
            for index in (index_at(found, at),)
        )
    )


def lines_text(found: Memory) -> str:
    """`lines 12 to 40`."""
    return "no lines are known" if found.lines is None else f"lines {found.lines[0]} to {found.lines[1]}"
