"""The fusion that `bisect-fusions` found, and the commands that show more of it."""

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from inspect_compile.analysis.operation_names import operations_in
from inspect_compile.analysis.pairs import Pair, standing
from inspect_compile.facts import Counted, Node, Operation
from inspect_compile.tables.sheet import Stack, joined, styled
from inspect_compile.tables.text import one_line, place_text, unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def bisection(
    found: "Sequence[tuple[Dump, Counted]]", number: int, count: int, runs: int, *, mends: bool
) -> RenderableType:
    """What each pair computes and where it stands in the program; does keeping it apart alone mend the result?"""
    lines: list[RenderableType] = []
    for dump, row in found:
        lines += _pair(dump, row, number, count)
    told = (
        joined(("denying it alone mends the result", "green"), f"   {runs} runs")
        if mends
        else joined(
            ("denying it alone does not mend the result: a later fusion changes it too", "yellow"), f"   {runs} runs"
        )
    )
    lines.append(told)
    for dump, row in found:
        root, graph = (
            shlex.quote(unbroken(os.path.relpath(dump.root))),
            shlex.quote(unbroken(row.graph.partition("/")[0])),
        )
        a, b = unbroken(row.a), unbroken(row.b)
        for words in (f"why {root} {a} {b}", f"replay {root} --graph {graph} --deny {a} {b}"):
            lines.append(Text(f"  inspect-compile {words}", "cyan", no_wrap=True, overflow="ignore"))
    return Stack(lines, gap=False)


def _pair(dump: "Dump", row: Counted, number: int, count: int) -> Iterator[RenderableType]:
    head = f"{row.a} and {row.b} of {row.graph}"
    yield joined(("the result changes with fusion ", ""), (f"{number} of {count}: ", "bold"), (one_line(head), "bold"))
    operations = [
        one for one in dump.rows(Operation, row.graph) if one.graph == row.graph and one.phase == "pre_fusion"
    ]
    where = {node.name: node.where for node in dump.rows(Node, row.graph) if node.graph == row.graph and node.where}
    for name in (row.a, row.b):
        members = set(operations_in(name)) or {name}
        nodes = dict.fromkeys(node for one in operations if members & set(one.members) for node in one.nodes)
        places = {where[node]: None for node in nodes if node in where}
        yield joined("  ", (one_line(name), "bold"), f"   {one_line(' '.join(nodes))}")
        for place in places:
            yield joined("     ", place_text(place), ("   " + one_line(place.code), "dim"), one_line=True)
    kernels = standing(dump, Pair(row.graph, tuple(operations_in(row.a)), tuple(operations_in(row.b)))).kernels_a
    yield joined("  kernel   ", styled(one_line(", ".join(kernels)) or "none", "bold"))
