"""Which dump a person means: by its path, the newest one, and in one of several ranks the rank."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def add_rank(parser: argparse.ArgumentParser) -> None:
    """The option that chooses a rank."""
    parser.add_argument("--rank", metavar="R", type=int, help="of a distributed run, the rank (0, 1, …)")


def add_target(parser: argparse.ArgumentParser) -> None:
    """The option that chooses among several targets."""
    parser.add_argument("--target", metavar="GPU", help="of a run with several targets, the one (sm_90, …)")


def add_replay(parser: argparse.ArgumentParser) -> None:
    """The option that chooses a replay."""
    parser.add_argument("--replay", metavar="N", type=int, help="a graph that was compiled again: the replay (1, 2, …)")


def of_replay(dump: "Dump", number: int | None) -> "Dump":
    """Of `dump` the replay with that number; all of it where none is asked for."""
    if number is None:
        return dump
    from inspect_compile.analysis.parts import of_replay

    return of_replay(dump, number)


def chosen(path: str | None, rank: int | None) -> "Dump":
    """The dump at `path`, else the newest one; of it the rank's part."""
    from inspect_compile.dump import newest_dump, open_dump

    dump = newest_dump() if path is None else open_dump(Path(path))
    if rank is None:
        return dump
    from inspect_compile.analysis.parts import of_rank

    return of_rank(dump, rank)


def for_target(dump: "Dump", target: str | None) -> "Dump":
    """Of `dump` what was compiled for `target`, or for the only one; all of it where there was none."""
    if target is None and not dump.run.targets:
        return dump
    from inspect_compile.analysis.parts import of_target

    return of_target(dump, target)


def needs_rank(dump: "Dump", what: str) -> None:
    """CommandError for a dump in which the ranks, or other processes, have all there is to see."""
    if not dump.other_processes:
        return
    from inspect_compile.analysis.parts import is_only_parts, numbers_text, parts, ranks, targets

    if for_targets := targets(dump):
        raise CommandError(
            f"{dump.root}: {len(for_targets)} targets, each with {what} of its own; choose one with --target"
            f" ({', '.join(for_targets)})"
        )
    if not is_only_parts(dump):
        return
    there = ranks(dump)
    if there:
        raise CommandError(
            f"{dump.root}: {len(there)} ranks, each with {what} of its own; choose one with --rank"
            f" ({numbers_text(there)}), or compare them: inspect-compile show {dump.root} ranks"
        )
    folders = ", ".join(str(part.dump.root) for part in parts(dump))
    raise CommandError(f"{dump.root}: its first process compiled nothing; {what} are in {folders}")


def said(path: str | None, rank: int | None, target: str | None = None, replay: int | None = None) -> str:
    """How the person named the dump, for the commands that a table tells."""
    options = (("--rank", rank), ("--target", target), ("--replay", replay))
    words = [f"{option} {value}" for option, value in options if value is not None]
    return " ".join([*([path] if path else []), *words])


def tell_left_out(*dumps: "Dump") -> None:
    """Say of a dump that is larger than what is read of one that it is, once what was asked for is printed."""
    from inspect_compile.tables.text import unbroken

    sys.stdout.flush()
    for dump in dumps:
        if dump.left_out:
            sys.stderr.write(f"{unbroken(str(dump.root))}: {dump.left_out}\n")
