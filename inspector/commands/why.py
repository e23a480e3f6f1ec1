"""`why`: why two operations are, or are not, in one kernel; for one operation, how its scheduler node grew."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from inspect_compile.errors import CommandError
from inspect_compile.graph import Graphs

if TYPE_CHECKING:
    from inspect_compile.analysis.fusion.pair_story import PairStory
    from inspect_compile.dump import Dump


class Why:
    """Prints the story of a pair or a group."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_graph, add_part
        from inspect_compile.commands.replay import setting

        parser.usage = (
            "inspect-compile why [DUMP] A [B] [--graph G] [--try [--config NAME=VALUE]] "
            "[--rank R] [--target GPU] [--replay N] [--json]"
        )
        parser.add_argument(
            "words",
            nargs="+",
            metavar="DUMP A B",
            help="A, B: an operation (op3), buffer, FX node, kernel, fused name (op3_op4) or line (file.py:12)",
        )
        add_part(parser)
        add_graph(parser)
        parser.add_argument(
            "--try",
            action="store_true",
            dest="is_trying",
            help="compile the graph again with the setting changed, and compare",
        )
        parser.add_argument(
            "--config",
            metavar="NAME=VALUE",
            type=setting,
            help="with --try: change this setting instead of the one that decided",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per line")

    def run(self, arguments: argparse.Namespace) -> int:
        """Print it."""
        from inspect_compile.analysis.fusion.misses import misses
        from inspect_compile.analysis.fusion.pair_story import FusionStories
        from inspect_compile.analysis.lookup.answer import together
        from inspect_compile.analysis.lookup.operations import find_operations
        from inspect_compile.commands.dump_selection import (
            dump_argument,
            graphs_named,
            needs_rank,
            needs_recorded,
            selected,
            tell_left_out,
        )
        from inspect_compile.commands.printing import print_json, print_table
        from inspect_compile.graph import CompiledGraph
        from inspect_compile.tables.fusion import why
        from inspect_compile.tables.lookup_text import resolved

        path, names = _split(arguments.words)
        dump = selected(path, arguments)
        needs_rank(dump, "fusion")
        needs_recorded(dump, "fusion")
        graphs = graphs_named(dump, arguments.graph)
        meant = resolved(together(find_operations(Graphs(dump, graph), names) for graph in graphs))
        called = dump_argument(path, arguments.rank, arguments.target, arguments.replay)
        if arguments.is_trying and len(names) == 1:
            raise CommandError("--try needs two names: which two should be in one kernel?")
        if arguments.is_trying and len(meant) > 1:
            there = ", ".join(sides[0].graph for sides in meant)
            raise CommandError(f"--try: {' and '.join(names)} are in several graphs; choose one with --graph: {there}")
        fused = True
        for position, sides in enumerate(meant):
            graph = CompiledGraph(dump, sides[0].graph)
            if len(meant) > 1 and not arguments.json:
                print_table(why.heading(graph, is_first=position == 0))
            if len(sides) == 1:
                groups = FusionStories(graph, misses(graph)).group(sides[0])
                if arguments.json:
                    print_json(groups)
                else:
                    for group in groups:
                        print_table(why.group(group, called))
                continue
            story = FusionStories(graph, ()).pair(*sides)
            if arguments.json:
                print_json([story])
            else:
                print_table(why.pair(story, called, is_asking_try=arguments.is_trying))
            if arguments.is_trying:  # of one graph
                sys.stdout.flush()
                fused = _try(dump, story, arguments.config, called, is_json=arguments.json)
        tell_left_out(dump)
        return 0 if fused else 1


def _split(words: list[str]) -> tuple[str | None, tuple[str, ...]]:
    """The dump and the names: the first of two words is the dump if it is a path to one."""
    from pathlib import Path

    rest = list(words)
    path = rest.pop(0) if len(rest) > 1 and (len(rest) > 2 or Path(rest[0]).is_dir()) else None
    if len(rest) > 2:
        raise CommandError(f"why takes one or two names, not {len(rest)}: {' '.join(rest)}")
    if path is None and len(rest) == 1 and Path(rest[0]).is_dir():
        raise CommandError(
            f"why {rest[0]}: name an operation: why DUMP A [B]; the operations are in show {rest[0]} schedule"
        )
    return path, tuple(rest)


def _try(dump: "Dump", story: "PairStory", asked: "tuple[str, Any] | None", called: str, *, is_json: bool) -> bool:
    """Compile the graph again with the given setting, or each one that the reason names, until both are in one
    scheduler node. Returns True if they are.
    """
    from inspect_compile.commands.dump_selection import tell_it_runs
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.knowledge.fusion.knob_values import worth_trying
    from inspect_compile.launch.replay import try_knob
    from inspect_compile.tables.compare.what_if import what_if

    if story.a.operation == story.b.operation:
        raise CommandError(f"--try: both are computed in {story.a.operation}: there is nothing to fuse")
    known = [(knob, value) for knob in story.knobs for value in worth_trying(knob)]
    settings = known if asked is None else [asked]
    if not settings:
        knobs = " and ".join(story.knobs)
        what = f"no other value of {knobs} is known to help" if knobs else "no setting decides this pair"
        raise CommandError(f"--try: {what}; to try one anyway: --config NAME=VALUE")
    tell_it_runs(CompiledGraph(dump, story.graph).outermost)
    for name, value in settings:
        found = try_knob(CompiledGraph(dump, story.graph), (story.a.operation,), (story.b.operation,), name, value)
        if is_json:
            print_json([found])
        else:
            print_table(what_if(found, called))
        if found.fused:
            return True
    return False
