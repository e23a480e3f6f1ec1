"""Compiles the graphs of a log again for a command, and says what came of each."""

from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say, tell

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def recompile(dump: "Dump", target: str | None) -> tuple[int, int]:
    """Compile each graph of the log again; returns how many could be, and how many there are."""
    from inspect_compile.analysis.compare.second_compile import agreement
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.launch.recompile import recompiled
    from inspect_compile.tables.compare.second_compile import agreement_text

    done = total = 0
    for one in recompiled(dump, target):
        total += 1
        again, graph = one.replay, one.graph
        if again is None:
            tell(f"not compiled again: {one.refused}")
        elif again.failure:
            tell(f"{graph.name}: the compile failed: {again.failure}; {again.part / 'compiler.log'} has more")
        else:
            done += 1
            found = agreement(graph, CompiledGraph(Dump(again.part), again.graph))
            look = f"inspect-compile show {graph.dump.root} fusion --replay {again.number}"
            say(f"{graph.name} compiled again, {agreement_text(found)}: {look}")
    return done, total
