"""`upgrade`: the same program in two environments, and what the difference of time and memory comes from."""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.commands.program import Program
    from inspect_compile.dump import Dump


class Upgrade:
    """Records with both, and compares."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program."""
        parser.usage = "inspect-compile upgrade --old ENV --new ENV [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]"
        parser.epilog = (
            "ENV is a virtual environment's folder or a Python executable. Nothing is installed there: our package is"
            " put on PYTHONPATH. Exit status: 0 where both compile the same, 1 where they differ, 2 for an error."
        )
        parser.add_argument("--old", metavar="ENV", required=True, help="the environment that was")
        parser.add_argument("--new", metavar="ENV", required=True, help="the one to compare with it")
        parser.add_argument("--dump", metavar="DIR", help="where to record both; a new or empty directory")
        parser.add_argument("--target", metavar="GPU", help="compile for a GPU that is not here (sm_90, …), unmeasured")
        parser.add_argument(
            "--runs", metavar="N", type=int, default=1, help="run each N times, in turn; the fastest run of each counts"
        )
        parser.add_argument("--no-measure", action="store_true", help="do not time launches")
        parser.add_argument("--json", action="store_true", help="one JSON object per line")

    def run(self, arguments: argparse.Namespace) -> int:
        """Record, compare, and print the page."""
        from inspect_compile.analysis.compare.upgrade import upgrade
        from inspect_compile.commands.printing import print_json, print_table
        from inspect_compile.tables.compare.upgrade import page

        old, new = _recorded(arguments)
        found = upgrade(old, new, ("old", "new"))
        if arguments.json:
            print_json([found.whole, *found.shares, *found.causes])
        else:
            print_table(page(found, *(str(dump.root) for dump in (old, new))))
        return 1 if found.causes else 0


def _recorded(arguments: argparse.Namespace) -> "tuple[Dump, Dump]":
    """The fastest dump of each environment. Raises CommandError if one fails, or compiles nothing."""
    from inspect_compile.analysis.compare.upgrade import call_seconds
    from inspect_compile.commands.dump_selection import for_target
    from inspect_compile.dump import Dump
    from inspect_compile.dump.root import make_root
    from inspect_compile.launch.elsewhere import environment, record

    words = _words(arguments.program)
    if arguments.runs < 1:
        raise CommandError(f"--runs {arguments.runs}: at least 1")
    environments = {"old": environment(arguments.old), "new": environment(arguments.new)}
    root = Path(arguments.dump) if arguments.dump else Path(tempfile.mkdtemp(prefix="inspect_compile_upgrade_"))
    make_root(root)
    is_timed = not (arguments.no_measure or arguments.target)
    options = [*(["--measure"] if is_timed else []), *(["--target", arguments.target] if arguments.target else [])]
    found: dict[str, list[Dump]] = {"old": [], "new": []}
    for number in range(1, arguments.runs + 1):
        for name, one in environments.items():
            place = root / (name if arguments.runs == 1 else f"{name}_{number}")
            status = record(one, place, root / f".python_{name}", words, options)
            if status:
                raise CommandError(f"{' '.join(words)} ended with status {status} in {getattr(arguments, name)}")
            dump = for_target(Dump(place), arguments.target)
            if not dump.graphs():
                raise CommandError(f"{' '.join(words)}: nothing was compiled in {getattr(arguments, name)}")
            found[name].append(dump)
    fastest = [min(dumps, key=lambda dump: call_seconds(dump) or 0.0) for dumps in found.values()]
    return fastest[0], fastest[1]


def _words(program: "Program | None") -> list[str]:
    if program is None or not program.words:
        raise CommandError("which program? inspect-compile upgrade --old ENV --new ENV SCRIPT, or -m MODULE")
    if program.kind == "command":
        raise CommandError("upgrade takes a SCRIPT or -m MODULE: a COMMAND has a Python of its own")
    if program.kind == "script" and not Path(program.words[0]).exists():
        raise CommandError(f"{program.words[0]}: there is no such script")
    return ["-m", *program.words] if program.kind == "module" else list(program.words)
