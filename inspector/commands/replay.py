"""`replay`: compiles a recorded graph again, for another target or with another setting, and shows what changed."""

import argparse
import ast
import shlex
from typing import TYPE_CHECKING, Any

from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph
    from inspect_compile.graph import CompiledGraph
    from inspect_compile.launch.replay import Denied


class Replay:
    """Compiles a recorded graph again, beside the first compile."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_dump, add_part

        parser.epilog = (
            "It runs code from the dump (the graph's fx_graph_runnable.py); no other command does. Neither the"
            " program nor the graph is run. Exit status: 0 if it compiled, 1 if the compile failed, 2 for an error."
        )
        add_dump(parser)
        add_part(parser, target=False, replay=False)
        parser.add_argument("--graph", metavar="G", help="its name, a part of it, forward, backward, or 0/0")
        parser.add_argument(
            "--target",
            metavar="GPU",
            action="append",
            default=[],
            help="compile it for a GPU that this machine does not have (sm_90, gfx942, …); repeatable",
        )
        parser.add_argument(
            "--config",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            type=setting,
            help="a setting of torch._inductor.config, with its value as in Python; repeatable",
        )
        parser.add_argument(
            "--deny",
            metavar=("A", "B"),
            nargs=2,
            action="append",
            default=[],
            help="do not fuse these two operations; name each by itself, its buffer, its FX node, or as a group"
            " (op1_op2) whose members all stay separate from the other side; repeatable",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object per line, as `show replays --json`")

    def run(self, arguments: argparse.Namespace) -> int:
        """Compile it, and print what changed."""
        from inspect_compile.commands.dump_selection import tell_it_runs, tell_left_out
        from inspect_compile.graph import CompiledGraph
        from inspect_compile.launch.replay import replayed
        from inspect_compile.tables.text import unbroken

        targets: list[str] = list(dict.fromkeys(arguments.target))
        _check(targets)
        dump = _dump(arguments.dump, arguments.rank, targets)
        if dump.run.target and not targets:
            _check([dump.run.target])
        graph = _graph(dump, arguments.graph)
        denied = _denied(CompiledGraph(dump, graph.graph), arguments)
        tell_it_runs(CompiledGraph(dump, graph.graph))
        failed = False
        numbers = []
        for target in targets or (None,):
            done = replayed(
                CompiledGraph(dump, graph.graph), target=target, config=dict(arguments.config), denied=denied
            )
            numbers.append(done.number)
            if done.failure:
                failed = True
                tell(f"the compile failed: {done.failure}; {done.part / 'compiler.log'} has more")
        around = _around(dump)
        _print(around, numbers, arguments)
        which = " and ".join(f"--replay {number}" for number in numbers)
        if not arguments.json:
            look = shlex.join(["inspect-compile", "show", unbroken(str(around.root))])
            tell(f"see: {look} {which}")
        tell_left_out(dump)
        return 1 if failed else 0


def setting(text: str) -> tuple[str, Any]:
    """Both parts of `NAME=VALUE`; a value that is not a Python literal is a string."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not a setting; write NAME=VALUE, such as max_fusion_size=1")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()


def _check(targets: list[str]) -> None:
    """Raises CommandError for an unknown target, or one that this Triton cannot compile for."""
    from inspect_compile.commands.run import check_triton, known_target

    try:
        for target in targets:
            known_target(target)
    except argparse.ArgumentTypeError as error:
        raise CommandError(f"--target: {error}") from None
    check_triton(targets)


def _dump(path: str | None, rank: int | None, targets: list[str]) -> "Dump":
    """The part with the graph: in a run with several targets, that of the selected target."""
    from inspect_compile.analysis.dumps.parts import targets as targets_of
    from inspect_compile.commands.dump_selection import chosen, for_target, needs_rank

    dump = chosen(path, rank)
    asked = [target for target in targets if target in targets_of(dump)]
    dump = for_target(dump, asked[0] if asked else None)
    needs_rank(dump, "graphs")
    return dump


def _graph(dump: "Dump", wanted: str | None) -> "Graph":
    from inspect_compile.analysis.dumps.nothing import nothing_text
    from inspect_compile.analysis.lookup.graphs import find_graph
    from inspect_compile.tables.lookup_text import only

    if wanted is not None:
        return only(find_graph(dump, wanted))
    graphs = dump.outermost()
    if not graphs:
        raise CommandError(f"{dump.name}: nothing to compile again, {nothing_text(dump)}")
    if len(graphs) > 1:
        names = ", ".join(graph.graph for graph in graphs[:8]) + (" …" if len(graphs) > 8 else "")
        raise CommandError(f"{dump.name}: {len(graphs)} graphs; choose one with --graph ({names})")
    return graphs[0]


def _denied(graph: "CompiledGraph", arguments: argparse.Namespace) -> "list[Denied]":
    """The pairs; raises CommandError for unknown names, and if there is nothing to keep apart."""
    from inspect_compile.analysis.lookup.pairs import find_pair, is_one_before, standing
    from inspect_compile.launch.replay import Denied
    from inspect_compile.tables.lookup_text import only

    pairs = [only(find_pair(graph, a, b)) for a, b in arguments.deny]
    for one in pairs:
        if is_one_before(graph.dump, one):
            raise CommandError(
                f"--deny: {one.words} are in one scheduler node before any fusion: there is nothing to deny"
            )
    apart = {one: found for one in pairs if not (found := standing(graph.dump, one)).is_fused}
    if apart and len(apart) == len(pairs) and not (arguments.config or arguments.target):
        one, found = next(iter(apart.items()))
        raise CommandError(
            f"--deny: {one.words} were not fused anyway: after fusion they are in {', '.join(found.a)} and "
            f"{', '.join(found.b)}; why: inspect-compile why {shlex.quote(str(graph.dump.root))} {'_'.join(one.a)} "
            f"{'_'.join(one.b)}"
        )
    return [Denied(*one) for one in pairs]


def _around(dump: "Dump") -> "Dump":
    """The part that contains the replays of its graphs, opened again."""
    from inspect_compile.dump import Dump
    from inspect_compile.launch.replay import beside

    return Dump(beside(dump).root)


def _print(dump: "Dump", numbers: list[int], arguments: argparse.Namespace) -> None:
    from inspect_compile.analysis.compare.replays import replay_rows
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.commands.show import LIMIT
    from inspect_compile.graph import Graphs
    from inspect_compile.tables.compare.replays import replays
    from inspect_compile.tables.parts import Request

    if arguments.json:
        print_json(replay_rows(Graphs(dump), numbers))
    else:
        print_table(replays(Request(Graphs(dump), limit=LIMIT, dump_argument=dump.name), only=numbers))
