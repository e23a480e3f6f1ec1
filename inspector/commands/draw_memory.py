"""`draw DUMP memory`: the memory of each graph as SVG."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspect_compile.errors import CommandError
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph

NAME: Final = "memory"
_OF_SCHEDULES: Final = ("phase", "around", "refused", "timeout")
"""Options that say nothing of memory."""


def draw_memory(
    arguments: argparse.Namespace,
    dump: "Dump",
    graphs: "list[Graph]",
    place: "Callable[[Graph], Path]",
    write: Callable[[Path, bytes], None],
) -> None:
    """Write a picture for each graph, at `place` without its ending, and print where it is."""
    from inspect_compile.analysis.memory import memory
    from inspect_compile.analysis.memory_holders import holders
    from inspect_compile.diagrams.memory_chart import memory_chart

    given = [f"--{option}" for option in _OF_SCHEDULES if getattr(arguments, option)]
    if given:
        raise CommandError(f"{given[0]} chooses what is drawn of a schedule; memory is drawn whole")
    named = Path(arguments.output or "").suffix.lower()
    if (arguments.format or "svg") != "svg" or named in (".png", ".dot"):
        raise CommandError(f"memory is drawn as SVG alone, not as {arguments.format or named[1:]}")
    drawn = 0
    for graph in graphs:
        found = memory(dump, graph.graph)
        if not found.steps:
            sys.stderr.write(f"{unbroken(graph.graph)}: no lines of a wrapper were recorded\n")
            continue
        path = place(graph)
        path = path.with_name(f"{path.name}.svg")
        write(path, memory_chart(found, holders(dump, graph.graph, found), graph.graph).encode())
        sys.stdout.write(f"{unbroken(str(path))}\n")
        drawn += 1
    if not drawn:
        raise CommandError(f"{dump.root}: no memory to draw; the program may still be compiling")
