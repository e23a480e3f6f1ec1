"""The dump that a command is about."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError
from inspect_compile.tables.text import unbroken

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


def add_rank(parser: argparse.ArgumentParser) -> None:
    """The option that chooses among the ranks of one run."""
    parser.add_argument(
        "--rank", metavar="R", type=_rank, help="of a run of several ranks, this one (default: the lowest)"
    )


def opened(path: str | None, rank: int | None, *, one: bool = True) -> "Dump":
    """The dump at `path`, or the newest one; with `rank` that part of it.

    Where nothing was compiled but by ranks, the lowest of them is taken if `one` process must be chosen, and said.
    """
    from inspect_compile.dump import newest_dump, open_dump
    from inspect_compile.dump.parts import of_rank, ranks

    dump = newest_dump() if path is None else open_dump(Path(path))
    if rank is not None:
        return of_rank(dump, rank)
    if one and not dump.graphs() and (found := ranks(dump.root)):
        lowest = min(found)
        sys.stderr.write(f"rank {lowest} of the ranks {' '.join(map(str, found))}; choose another with --rank R\n")
        return of_rank(dump, lowest)
    return dump


def tell_left_out(*dumps: "Dump") -> None:
    """Say of a dump that is larger than what is read of one that it is, once what was asked for is printed."""
    for dump in dumps:
        if dump.left_out:
            sys.stdout.flush()
            sys.stderr.write(f"{unbroken(str(dump.root))}: {dump.left_out}\n")


def _rank(text: str) -> int:
    if not text.isdecimal():
        raise CommandError(f"--rank {text}: no rank; write 0, 1, …")
    return int(text)
