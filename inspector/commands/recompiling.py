"""Compiles the graphs of a log again for a command, and says what came of each."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say, tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def add_recompile(parser: argparse.ArgumentParser) -> None:
    """Add the option that compiles the graphs of a log again before anything is shown."""
    parser.add_argument(
        "--recompile",
        action="store_true",
        help="for a log: first compile its graphs again on this machine, for the log's GPU or for --target GPU;"
        " kept with the log",
    )


def recompile_missing(dumps: "Sequence[Dump]", arguments: argparse.Namespace) -> "list[Dump]":
    """Compile those graphs of logs again that were not yet; `--target` then names the GPU and no part of a dump.

    Returns the dumps with what was added. Raises CommandError for a dump that was recorded.
    """
    for dump in dumps:
        if not dump.run.origin:
            raise CommandError(
                f"--recompile: {dump.root} is a recording, not a log; `inspect-compile replay` compiles a graph again"
            )
    for dump in dumps:
        recompile(dump, arguments.target, only_missing=True)
    arguments.target = None
    return [dump.anew() for dump in dumps]


def recompile(dump: "Dump", target: str | None, *, only_missing: bool = False) -> tuple[int, int]:
    """Compile each graph of the log again, or those that were not yet; returns how many could be, of how many.

    Raises CommandError for an origin that has no text of a graph.
    """
    from inspect_compile.analysis.compare.second_compile import agreement
    from inspect_compile.commands.dump_selection import needs_torch
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.knowledge.origins import ORIGINS
    from inspect_compile.launch.recompile import recompiled
    from inspect_compile.tables.compare.second_compile import agreement_text

    held = ORIGINS.get(dump.run.origin)
    if held is not None and not held.has_graphs:
        raise CommandError(f"{dump.name}: a {dump.run.origin} has no graph that could be compiled again")
    needs_torch()
    done = total = 0
    for one in recompiled(dump, target, only_missing=only_missing):
        total += 1
        again, graph = one.replay, one.graph
        if again is None:
            tell(f"not compiled again: {one.refused}")
        elif not again.failure and Dump(again.part).graph(again.graph) is None:
            tell(f"{graph.name}: it compiled, but nothing of that was recorded: {again.part}")
        elif again.failure:
            tell(f"{graph.name}: the compile failed: {again.failure}; {again.part / 'compiler.log'} has more")
        else:
            done += 1
            found = agreement(graph, CompiledGraph(Dump(again.part), again.graph))
            look = f"inspect-compile show {graph.dump.name} fusion --replay {again.number}"
            say(f"{graph.name} compiled again, {agreement_text(found)}: {look}")
    return done, total
