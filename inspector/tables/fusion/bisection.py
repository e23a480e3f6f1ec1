"""The fusion that `bisect-fusions` found, and commands that show more about it."""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspect_compile.analysis.lookup.pairs import Pair, standing
from inspect_compile.facts import Counted, Node, Operation
from inspect_compile.graph import operations_in, outermost
from inspect_compile.tables.styled_text import Block, Stack, joined, styled
from inspect_compile.tables.text import one_line, place_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def bisection(found: "Sequence[tuple[Dump, Counted]]", number: int, count: int, runs: int, *, fixes: bool) -> Block:
    """What each pair computes and where it is in the program; `fixes`: denying it alone makes the check succeed."""
    lines: list[Block] = []
    for dump, row in found:
        lines += _pair(dump, row, number, count)
    verdict = ("denying it alone fixes the result", "good")
    if not fixes:
        verdict = ("denying it alone does not fix the result: a later fusion changes it too", "warn")
    lines.append(joined(verdict, f"   {runs} runs"))
    return Stack(lines, gap=False)


def commands(found: "Sequence[tuple[Dump, Counted]]") -> Iterator[str]:
    """Commands that show more about each pair."""
    for dump, row in found:
        root, graph = (shlex.quote(unbroken(name)) for name in (os.path.relpath(dump.root), outermost(row.graph)))
        pair = shlex.join([unbroken(row.a), unbroken(row.b)])
        yield f"inspect-compile why {root} {pair}"
        yield f"inspect-compile replay {root} --graph {graph} --deny {pair}"


def _pair(dump: "Dump", row: Counted, number: int, count: int) -> Iterator[Block]:
    head = f"{row.a} and {row.b} of {row.graph}"
    yield joined(
        ("the result changes with fusion ", ""), (f"{number} of {count}: ", "strong"), (one_line(head), "strong")
    )
    there = [one for one in dump.rows(Operation, row.graph) if one.graph == row.graph]
    where = {node.name: node.where for node in dump.rows(Node, row.graph) if node.graph == row.graph and node.where}
    for name in (row.a, row.b):
        members = set(operations_in(name)) or {name}
        nodes = dict.fromkeys(
            node for one in there if one.phase == "pre_fusion" and members & set(one.members) for node in one.nodes
        )
        places = {where[node]: None for node in nodes if node in where}
        yield joined("  ", (one_line(name), "strong"), f"   {one_line(' '.join(nodes))}")
        for place in places:
            yield joined("     ", place_text(place), ("   " + one_line(place.code), "dim"), is_cut=True)
    kernels = standing(dump, Pair(row.graph, tuple(operations_in(row.a)), tuple(operations_in(row.b)))).kernels_a
    yield joined("  kernel   ", styled(one_line(", ".join(kernels)) or "none", "strong"))
