"""Selects the dump: by its path or the newest one, and in it the rank, target or replay."""

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from inspect_compile.commands.streams import tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph

S = TypeVar("S")
T = TypeVar("T")


def add_dump(parser: argparse.ArgumentParser) -> None:
    """Add the argument for a dump."""
    parser.add_argument("dump", nargs="?", metavar="DUMP", help="default: the newest one below the current directory")


def add_part(parser: argparse.ArgumentParser, *, target: bool = True, replay: bool = True) -> None:
    """Add the options that select a part of the dump: a rank and, if they apply, a target or a replay."""
    parser.add_argument("--rank", metavar="R", type=int, help="rank of a distributed run (0, 1, …)")
    if target:
        parser.add_argument("--target", metavar="GPU", help="target of a run with several (sm_90, …)")
    if replay:
        help_text = "replay of a graph (1, 2, …)"
        parser.add_argument("--replay", metavar="N", type=int, help=help_text)


def add_graph(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects graphs, for `graphs_named`."""
    parser.add_argument("--graph", metavar="G", help="graph: its name, a part of it, its kind (forward) or compile id")


def chosen(path: str | None, rank: int | None) -> "Dump":
    """The dump at `path`, else the newest one; in it the rank's part."""
    from inspect_compile.dump import newest_dump, open_dump

    if path is None:
        return _of_rank(newest_dump(), rank)
    from inspect_compile.origins.opened import of_others

    return _of_rank(of_others(Path(path)) or open_dump(Path(path)), rank)


def name_of(dump: "Dump") -> str:
    """What commands call a dump that is not where the reader is: the last part of its path."""
    return Path(dump.name).resolve().name


def _of_rank(dump: "Dump", rank: int | None) -> "Dump":
    if rank is None:
        return dump
    from inspect_compile.analysis.lookup.parts import find_rank
    from inspect_compile.tables.lookup_text import only

    return only(find_rank(dump, rank))


def for_target(dump: "Dump", target: str | None) -> "Dump":
    """The part of `dump` for `target`, or for its only target; `dump` itself if it has none."""
    if target is None and not dump.run.targets:
        return dump
    from inspect_compile.analysis.lookup.parts import find_target
    from inspect_compile.tables.lookup_text import only

    return only(find_target(dump, target))


def selected(path: str | None, arguments: argparse.Namespace) -> "Dump":
    """The dump at `path`, else the newest one; in it the rank, target and replay that the arguments name."""
    return part_of(chosen(path, None), arguments)


def part_of(whole: "Dump", arguments: argparse.Namespace) -> "Dump":
    """The part of a dump for the rank, target and replay that the arguments name."""
    dump = for_target(_of_rank(whole, arguments.rank), arguments.target)
    if (number := getattr(arguments, "replay", None)) is None:
        return dump
    from inspect_compile.analysis.lookup.parts import find_replay
    from inspect_compile.tables.lookup_text import only

    return only(find_replay(dump, number))


def graphs_named(dump: "Dump", text: str | None, *, only_one: bool = False) -> "tuple[str, ...] | tuple[None]":
    """The names of all graphs that `--graph` means, for what can be told of each; None alone if it was not given."""
    if text is None:
        return (None,)
    from inspect_compile.analysis.lookup.graphs import find_graph, find_graphs
    from inspect_compile.tables.lookup_text import resolved

    return tuple(graph.graph for graph in resolved((find_graph if only_one else find_graphs)(dump, text)))


def needs_rank(dump: "Dump", what: str) -> None:
    """Raises CommandError if only the ranks, or other processes, of a dump have anything to see."""
    if not dump.other_processes:
        return
    from inspect_compile.analysis.dumps.parts import is_only_parts, numbers_text, parts, ranks, targets

    if for_targets := targets(dump):
        raise CommandError(
            f"{dump.name}: {len(for_targets)} targets, each with {what} of its own; choose one with --target"
            f" ({', '.join(for_targets)})"
        )
    if not is_only_parts(dump):
        return
    there = ranks(dump)
    if there:
        raise CommandError(
            f"{dump.name}: {len(there)} ranks, each with {what} of its own; choose one with --rank"
            f" ({numbers_text(there)}), or compare them: inspect-compile show {dump.name} ranks"
        )
    folders = ", ".join(str(part.dump.root) for part in parts(dump))
    raise CommandError(f"{dump.name}: its first process compiled nothing; {what} are in {folders}")


def needs_recorded(dump: "Dump", table: str) -> None:
    """Raises CommandError if the dump was made of a log that holds nothing of `table`."""
    from inspect_compile.knowledge.origins import unknown_text

    if why := unknown_text(dump.run.origin, table):
        raise CommandError(f"{dump.name}: {why}")


def needs_whole(*dumps: "Dump") -> None:
    """Raises CommandError if a dump lacks tables that its run left: what is missing would be told as a difference."""
    from inspect_compile.analysis.dumps.nothing import incomplete_text

    for dump in dumps:
        if dump.lacking:
            raise CommandError(f"{dump.name}: {incomplete_text(dump)}")


def done_for_each(items: "Sequence[S]", do: "Callable[[S], T]") -> tuple[list[T], list[CommandError]]:
    """The results for the items that it can be done for, and why not for others; CommandError if it can be for none."""
    results: list[T] = []
    failures: list[CommandError] = []
    for item in items:
        try:
            results.append(do(item))
        except CommandError as error:
            failures.append(error)
    if failures and not results:
        raise failures[0]
    return results, failures


def dump_argument(path: str | None, rank: int | None, target: str | None = None, replay: int | None = None) -> str:
    """The dump as the user typed it, for commands printed in a table."""
    options = (("--rank", rank), ("--target", target), ("--replay", replay))
    words = [f"{option} {value}" for option, value in options if value is not None]
    return " ".join([*([path] if path else []), *words])


def tell_it_runs(graph: "CompiledGraph") -> None:
    """Say, before code from the dump is run, which code that is: the recorded text of the outermost `graph`.

    Raises CommandError where there is no torch to run it with.
    """
    from inspect_compile.dump import paths

    needs_torch()
    if graph.dump.run.origin:  # of a stranger's text nothing is run
        return
    file = graph.dump.folder(graph.name) / paths.FX_RUNNABLE
    tell(f"this runs code from the dump: {file}")


def needs_torch() -> None:
    """Raises CommandError if torch is not installed: a dump can be read without it, and nothing compiled."""
    if importlib.util.find_spec("torch") is None:
        from inspect_compile.knowledge.overview.nothing import RECORDS

        raise CommandError(f"torch is not installed here; to compile again: {RECORDS}")


def tell_left_out(*dumps: "Dump") -> None:
    """After the output, say if a dump was too large to be read completely."""
    sys.stdout.flush()
    for dump in dumps:
        if dump.left_out:
            tell(f"{dump.name}: {dump.left_out}", name="")
