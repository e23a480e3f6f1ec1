"""`import`: make a dump of what torch itself wrote."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.commands.streams import say, tell
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.dump import Dump


class Import:
    """Reads what torch wrote into a dump; with `--recompile` compiles its graphs again."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        parser.usage = "inspect-compile import PATH -o DUMP [--recompile [--target GPU]]"
        parser.add_argument(
            "path",
            metavar="PATH",
            help="torch's own output: a TORCH_TRACE log, a folder, a .pt2 …, or an archive of it",
        )
        parser.add_argument("-o", "--output", metavar="DUMP", required=True, help="the dump; a new directory")
        parser.add_argument(
            "--recompile",
            action="store_true",
            help="compile its graphs again on this machine, to get what the log lacks: lowering, fusion, memory",
        )
        parser.add_argument("--target", metavar="GPU", help="with --recompile: for which GPU (default: the log's)")

    def run(self, arguments: argparse.Namespace) -> int:
        """Read it, and say what was in it."""
        from inspect_compile.origins.importing import is_readable, read_into

        path, root = Path(arguments.path), Path(arguments.output)
        if arguments.target and not arguments.recompile:
            raise CommandError("--target needs --recompile")
        if not path.exists():
            raise CommandError(f"{path}: no such file or folder")
        if root.exists():
            raise CommandError(f"{root}: already exists; name a new directory")
        if not is_readable(path):
            raise CommandError(
                f"{path}: no output of torch.compile that can be read; docs/origins.md lists the formats"
            )
        dump = read_into(path, root)
        for part in dump.other_processes or (dump.root,):
            _report(part)
        say(f"see: inspect-compile show {root}")
        if arguments.recompile:
            return _recompile(dump, arguments.target)
        return 0


def _report(root: Path) -> None:
    """How many records became what, and which were not read."""
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Frame
    from inspect_compile.facts.origin import OriginRecords
    from inspect_compile.knowledge.origins import unknown_text
    from inspect_compile.tables.text import number_of

    dump = Dump(root)
    rows = dump.rows(OriginRecords)
    read = [row for row in rows if row.became != "not read"]
    for row in rows:
        if row.became == "not read":
            what, _, why = row.what.partition(": ")
            tell(f"{root}: {number_of(row.count, what.removesuffix('s'))} not read: {why}")
    if not read:
        say(f"{root}: {number_of(len(dump.outermost()), 'graph')}")
        return
    words = [f"{number_of(sum(row.count for row in read), 'record')} of {number_of(len(read), 'kind')}"]
    if not unknown_text(dump.run.origin, "dynamo"):
        words.append(number_of(len({row.graph for row in dump.rows(Frame)}), "compiled frame"))
    say(f"{root}: {', '.join(words)}, {number_of(len(dump.outermost()), 'graph')}")


def _recompile(dump: "Dump", target: str | None) -> int:
    """Compile each graph of the log again; 1 if one of them could not be."""
    from inspect_compile.commands.recompiling import recompile

    done, total = recompile(dump, target)
    say(f"{done:,} of {total:,} graphs compiled again")
    return 0 if done == total else 1
