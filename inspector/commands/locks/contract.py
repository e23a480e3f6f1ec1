"""What `lock` and `check` share: the program, recorded or in a dump, and its contract."""

import argparse
import os
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from inspect_compile.commands.numerics_dump import is_dump
from inspect_compile.commands.program import Program, command_of
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.analysis.lock.contract import Compiled
    from inspect_compile.dump import Dump

FILE: Final = "compile.lock"
_OF_REPOSITORY: Final = (".git", ".hg")


class Recorded(NamedTuple):
    """A program that was recorded, or the dump of one."""

    dump: "Dump"
    path: str
    """The dump, as the user would type it."""
    root: str
    """The folder that files are named relative to."""
    program: str


def add_program_options(parser: argparse.ArgumentParser) -> None:
    """Add the options about recording."""
    from inspect_compile.commands.run import known_target

    parser.add_argument("--dump", metavar="DIR", help="where to record; a new or empty directory")
    parser.add_argument(
        "--target",
        metavar="GPU",
        type=known_target,
        help="compile for a GPU that this machine does not have (sm_90, …); with a DUMP: its target",
    )
    parser.add_argument(
        "--fake-kernels",
        action="store_true",
        help="with --target: where the program's own Triton kernel cannot run, continue with zeros as its result",
    )
    parser.add_argument("--rank", metavar="R", type=int, help="rank of a distributed run (0, 1, …)")


def own_behind(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Take the options of ours that stand at once behind SCRIPT, DUMP or `-m MODULE`: the program's own arguments
    begin with the first word that is none of them, or behind `--`.
    """
    program: Program | None = arguments.program
    if program is None or program.kind == "command" or not program.words:
        return
    name, *words = program.words
    if is_dump(program):
        parser.parse_args(words, arguments)
        arguments.program = Program(program.kind, (name,))
        return
    flags = {flag: action for action in parser._actions for flag in action.option_strings}
    taken = 0
    while taken < len(words):
        word = words[taken]
        action = flags.get(word.partition("=")[0]) if word.startswith("--") else flags.get(word)
        if action is None or word in ("-h", "--help"):
            break
        taken += 1 if "=" in word or action.nargs == 0 else 2
    parser.parse_args(words[:taken], arguments)
    rest = words[taken:]
    arguments.program = Program(program.kind, (name, *(rest[1:] if rest[:1] == ["--"] else rest)))


def recorded(arguments: argparse.Namespace, name: str) -> Recorded:
    """Run the program and record it, or open the dump that stands in its place. Raises CommandError."""
    from inspect_compile.commands.dump_selection import dump_argument, needs_whole
    from inspect_compile.dump import Dump, open_dump

    program: Program | None = arguments.program
    if program is None or not program.words:
        raise CommandError(f"no program given: inspect-compile {name} SCRIPT, {name} -m MODULE, or {name} -- COMMAND")
    if is_dump(program):
        path = program.words[0]
        found, words = open_dump(Path(path)), tuple(open_dump(Path(path)).run.argv)
    else:
        path, words = _ran(arguments, program), program.words
        found = Dump(Path(path))
    part = _part(found, arguments)
    needs_whole(part)
    _check_whole(part, path)
    root = _root(part)
    return Recorded(part, dump_argument(path, arguments.rank, arguments.target), root, " ".join(words))


def compiled(of: Recorded, missed_over: int) -> "Compiled":
    """The contract of what was recorded. Raises CommandError if nothing was compiled."""
    from inspect_compile.analysis.dumps.nothing import nothing_text
    from inspect_compile.analysis.lock.contract import contract

    found = contract(of.dump, root=of.root, missed_over=missed_over)
    if not found.lock.frames and not found.lock.graphs:
        raise CommandError(f"{of.program or of.path}: {nothing_text(of.dump)}; there is nothing to compare it with")
    return found


def _ran(arguments: argparse.Namespace, program: Program) -> str:
    """Run the program to its end on our own terminal; returns the dump's path. Raises CommandError if it fails."""
    from inspect_compile.child.run_config import RunConfig
    from inspect_compile.child.setting import Setting, python_path_without_bootstrap
    from inspect_compile.commands.run import check_triton, first_record, last_record
    from inspect_compile.dump.root import default_root, make_root
    from inspect_compile.launch.replace import ended, plain_environment

    path, argv = command_of(program, arguments.commands)
    targets = (arguments.target,) if arguments.target else ()
    if arguments.fake_kernels and not targets:
        raise CommandError("--fake-kernels stands in for Triton kernels on a GPU that is not here; say which: --target")
    check_triton(targets)
    cwd = Path.cwd()
    root = cwd / arguments.dump if arguments.dump is not None else default_root(cwd, os.getpid(), datetime.now())
    make_root(root)
    setting = Setting(
        root=str(root),
        pid=0,
        python_path=python_path_without_bootstrap(os.environ),
        plain=program.kind != "command",
        run=RunConfig(level="facts", targets=targets, fake_kernels=arguments.fake_kernels).plain(),
        quiet=True,
    )
    first_record(root, argv, setting)
    status = ended(path, argv, setting.environment(plain_environment()))
    last_record(root, status)
    shown = os.path.relpath(root)
    if status:
        how = f"with status {status}" if status > 0 else f"by signal {-status}"
        raise CommandError(f"{program.words[0]} ended {how}, so it was not checked; what it compiled is in {shown}")
    return shown


def _part(found: "Dump", arguments: argparse.Namespace) -> "Dump":
    """The rank, the target or the only process that compiled anything."""
    from inspect_compile.commands.dump_selection import chosen, for_target, needs_rank
    from inspect_compile.dump import Dump

    found = for_target(chosen(str(found.root), arguments.rank), arguments.target)
    if not found.run.target and not found.outermost():
        own = [part for part in map(Dump, found.other_processes) if part.outermost()]
        if len(own) == 1:
            return own[0]
    needs_rank(found, "graphs")
    return found


def _check_whole(dump: "Dump", path: str) -> None:
    if dump.run.omitted:
        omitted = "; ".join(one.message for one in dump.run.omitted if one.what != "texts")
        if omitted:
            raise CommandError(f"{path} is not complete ({omitted}): it cannot be compared with a contract")


def _root(dump: "Dump") -> str:
    """The repository that the program is in; else the folder of the script, or the one that it was started in."""
    run = dump.run
    cwd = Path(run.cwd or ".")
    script = next((word for word in run.argv[:1] if word.endswith(".py")), "")
    folder = (cwd / script).parent if script else cwd
    for one in (folder, *folder.parents):
        if any((one / name).exists() for name in _OF_REPOSITORY):
            return str(one)
    return os.path.normpath(folder)


def clock() -> float:
    """Seconds, for how long something takes."""
    return time.monotonic()
