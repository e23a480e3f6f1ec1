"""`numerics DUMP`: what a check of numerics kept is made into a reproducer, or compiled again with other settings."""

import argparse
import ast
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from inspect_compile.commands.program import Program
from inspect_compile.commands.streams import say, tell
from inspect_compile.errors import CommandError
from inspect_compile.graph import Graphs

if TYPE_CHECKING:
    from inspect_compile.analysis.numerics.kept import KeptLaunch
    from inspect_compile.dump import Dump
    from inspect_compile.facts import Graph
    from inspect_compile.graph import Id

_LONGEST: Final = 300
"""Seconds that a script may take."""
_GONE: Final = "the inputs are gone; a dump from `share` has them only with --inputs"
_OF_A_DUMP: Final = {"kernel": "--kernel", "output": "-o", "seed": "--seed", "causes": "--causes", "json": "--json"}
_OF_A_PROGRAM: Final = {
    "dump": "--dump",
    "calls": "--calls",
    "every": "--every",
    "keep": "--keep",
    "eager": "--eager",
    "exact": "--exact",
    "offload": "--offload",
    "deterministic": "--deterministic",
    "nonfinite": "--nonfinite",
    "recorder": "--recorder",
}


def add_dump_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that stand beside a dump."""
    group = parser.add_argument_group("of a dump")
    group.add_argument("-o", "--output", metavar="FILE.py", help="write a script that reproduces a wrong launch")
    group.add_argument(
        "--seed",
        action="store_true",
        help="generate the script's inputs from a seed, so that it needs no other file, if the result is also wrong"
        " with these; runs it to find out",
    )
    group.add_argument("--kernel", metavar="K", help="the launch of this kernel (default: the first wrong one)")
    group.add_argument(
        "--causes",
        action="store_true",
        help="compile the first wrong graph (or --graph) again, with one setting after another, and report which"
        " fix it",
    )
    group.add_argument("--json", action="store_true", help="what --causes finds as JSON, one object per line")


def is_dump(program: Program | None) -> bool:
    """True if the program's place has a directory that Python can't run."""
    if program is None or program.kind != "script":
        return False
    path = Path(program.words[0])
    return path.is_dir() and not (path / "__main__.py").exists()


def refuse_dump_options(arguments: argparse.Namespace) -> None:
    """Raises CommandError if options are for a dump, and there is none."""
    if given := _given(arguments, _OF_A_DUMP):
        raise CommandError(f"{given}: that is for the dump of a check: inspect-compile numerics DUMP {given}")


def of_dump(arguments: argparse.Namespace) -> int:
    """Do what is asked of a dump; returns the exit status."""
    from inspect_compile.dump import open_dump

    path = arguments.program.words[0]
    if given := _given(arguments, _OF_A_PROGRAM):
        raise CommandError(f"{given}: that is for a program, and {path} is a directory without a __main__.py: a dump")
    dump = open_dump(Path(path))
    if arguments.causes:
        if arguments.output is not None or arguments.kernel is not None or arguments.seed:
            raise CommandError("--causes: of a graph, without --kernel, --seed and -o")
        return _caused(dump, arguments)
    if arguments.output is None:
        raise CommandError(
            f"{path}: choose what to do: -o FILE.py writes a reproducer, --causes looks for settings that fix it;"
            " inspect-compile show"
            f" {path} numerics prints what was found"
        )
    return _reproduced(dump, arguments)


def processes(dump: "Dump") -> "Iterator[Dump]":
    """The dump and the parts of other processes of the run, without replays."""
    from inspect_compile.analysis.dumps.parts import parts

    yield dump
    yield from (part.dump for part in parts(dump) if part.replay is None)


def _given(arguments: argparse.Namespace, options: dict[str, str]) -> str:
    return next((option for name, option in options.items() if getattr(arguments, name) not in (None, False)), "")


def _reproduced(dump: "Dump", arguments: argparse.Namespace) -> int:
    from inspect_compile.tables.numerics.reproducer import reproducer
    from inspect_compile.tables.text import unbroken

    output = Path(arguments.output)
    beside = output.with_suffix(".pt")
    if output.suffix != ".py":
        raise CommandError(f"-o {output}: a reproducer is a Python script; name it FILE.py")
    for path in (output, beside):
        if os.path.lexists(path):
            raise CommandError(f"{path}: exists already; choose another name with -o")
    part, kept = _chosen(dump, arguments.kernel, arguments.graph)
    kernel = unbroken(kept.inputs.kernel)
    if arguments.seed:
        text, why_not = _seeded(part, kept)
        if not why_not:
            _write_new(output, io.BytesIO(text.encode("utf-8", "backslashreplace")))
            say(f"{unbroken(str(output))}   {kernel}, run it with python; its inputs come from a seed")
            return 0
        tell(f"the inputs are kept as tensors: {why_not}")
    text = reproducer(part, kept, beside.name)
    with _inputs(part, kept.inputs.file) as tensors:
        _write_new(beside, tensors)
    try:
        _write_new(output, io.BytesIO(text.encode("utf-8", "backslashreplace")))
    except CommandError:
        beside.unlink(missing_ok=True)
        raise
    say(f"{unbroken(str(output))}   {kernel}, run it with python; its inputs are in {unbroken(str(beside))}")
    return 0


def _seeded(dump: "Dump", kept: "KeptLaunch") -> tuple[str, str]:
    """The script with inputs from a seed, and why it is of no use; empty if its result is wrong."""
    from inspect_compile.tables.numerics.reproducer import reproducer

    try:
        text = reproducer(dump, kept, None)
    except CommandError as error:
        return "", str(error)
    tell("this runs code from the dump: the script with inputs from a seed")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "seeded.py"
        script.write_text(text, "utf-8", "backslashreplace")
        try:
            done = subprocess.run(
                [sys.executable, script], capture_output=True, text=True, check=False, timeout=_LONGEST
            )
        except subprocess.TimeoutExpired:
            return "", f"the script with inputs from a seed takes longer than {_LONGEST} s"
    last = next(reversed(done.stdout.split("\n")[:-1]), "")
    if (done.returncode, last) == (1, "wrong"):
        return text, ""
    if (done.returncode, last) == (0, "not wrong"):
        return "", "with inputs from a seed the result is not as wrong"
    failed = next(reversed(done.stderr.strip().split("\n")), "")
    return "", f"the script with inputs from a seed fails: {failed}"


def _chosen(dump: "Dump", kernel: str | None, graphs: list[str]) -> "tuple[Dump, KeptLaunch]":
    """The first wrong launch that is meant and kept; raises CommandError if there is none."""
    from inspect_compile.analysis.numerics.kept import kept_launches
    from inspect_compile.analysis.numerics.verdicts import summary
    from inspect_compile.graph import Graphs, Id

    wanted = _kernels(dump, kernel)
    where = dump.name
    there = [(part, kept) for part in processes(dump) for kept in kept_launches(part)]
    named = [
        (part, kept)
        for part, kept in there
        if (wanted is None or Id(kept.inputs.graph, kept.inputs.kernel) in wanted)
        and (not graphs or any(name in kept.inputs.graph for name in graphs))
    ]
    for part, kept in named:
        if kept.inputs.file:
            return part, kept
    if named:
        inputs = named[0][1].inputs
        raise CommandError(f"{inputs.kernel}: its inputs, {inputs.bytes:,} bytes, are not kept: {inputs.reason}")
    sums = [summary(Graphs(part)) for part in processes(dump)]
    if not any(one.results or one.trouble for one in sums):
        raise CommandError(f"{where}: nothing was checked in it; inspect-compile numerics SCRIPT checks each launch")
    if not any(one.wrong for one in sums):
        raise CommandError(f"{where}: nothing wrong is recorded; inspect-compile show {where} numerics prints the rest")
    if not there:
        of_passes = all(one.first is None or not one.first.kernel for one in sums)
        raise CommandError(
            f"{where}: a pass made it wrong, and no launch is wrong; --causes compiles it again"
            if of_passes
            else f"{where}: no inputs of wrong launches are kept; check again with --keep SIZE"
        )
    names = ", ".join(dict.fromkeys(kept.inputs.kernel for _, kept in there))
    which = f"{kernel}: nothing wrong is recorded of it" if kernel is not None else "no wrong launch is in such a graph"
    raise CommandError(f"{which}; the kept launches are of {names}")


def _kernels(dump: "Dump", kernel: str | None) -> set["Id"] | None:
    """Graph and name of the kernels that are meant, in any process; None for all."""
    from inspect_compile.graph import Id

    if kernel is None:
        return None
    from inspect_compile.analysis.lookup.answer import Found
    from inspect_compile.analysis.lookup.kernels import find_kernels
    from inspect_compile.tables.lookup_text import resolved

    answers = [find_kernels(Graphs(part), kernel, extern=True) for part in processes(dump)]
    found = [one for one in answers if isinstance(one, Found)]
    return {Id.of(row) for answer in found or answers[:1] for row in resolved(answer)}


def _inputs(dump: "Dump", name: str) -> IO[bytes]:
    """A file with kept inputs; raises CommandError if it is not a plain file in the dump."""
    from inspect_compile.dump.files import file_inside

    file = file_inside(dump.root, dump.root / name)
    if file is None:
        raise CommandError(f"{dump.root / name}: {_GONE}")
    return file


def _write_new(path: Path, data: IO[bytes]) -> None:
    """Write a file that must not exist yet, completely or not at all."""
    try:
        with open(path, "xb") as file:
            try:
                shutil.copyfileobj(data, file)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise CommandError(f"{path}: cannot be written ({error.strerror or error}); choose a place with -o") from None


def _caused(dump: "Dump", arguments: argparse.Namespace) -> int:
    """Compile a wrong graph again with one setting after the other, and print which fix it."""
    import msgspec

    from inspect_compile.analysis.numerics.causes import FAILED, NOT_WRONG, STILL, attempts, causes, fixing
    from inspect_compile.commands.dump_selection import tell_it_runs
    from inspect_compile.commands.printing import print_json, print_table
    from inspect_compile.dump import Dump
    from inspect_compile.graph import CompiledGraph, Graphs
    from inspect_compile.launch.replay import Denied, replayed
    from inspect_compile.tables.numerics import causes as table

    part, graph, inputs = _blamed(dump, arguments.graph)
    tell_it_runs(CompiledGraph(part, graph.graph))
    failures: dict[str, str] = {}
    for attempt in attempts(CompiledGraph(part, graph.graph)):
        if attempt.reason:
            continue
        tell(f"compiling it again, {attempt.words}")
        denied = [Denied(graph.graph, *attempt.apart)] if attempt.apart else []
        config = {name: ast.literal_eval(value) for name, value in attempt.config.items()}
        try:
            done = replayed(CompiledGraph(part, graph.graph), config=config, denied=denied, inputs=inputs)
        except CommandError as error:
            if not attempt.config and not attempt.apart:
                raise
            failures[attempt.words] = str(error)
            continue
        if done.failure:
            failures[attempt.words] = done.failure
        if not attempt.config and not attempt.apart:
            first = next(iter(causes(Graphs(Dump(part.root), graph.graph))), None)
            if first is None or first.outcome != STILL:
                break
    again = Dump(part.root)
    rows = [
        msgspec.structs.replace(row, outcome=FAILED, reason=failures[row.change]) if row.change in failures else row
        for row in causes(Graphs(again, graph.graph))
    ]
    if not rows:
        raise CommandError(f"{graph.graph}: it can't be compiled again: {'; '.join(failures.values()) or 'no reason'}")
    if rows[0].outcome == NOT_WRONG:
        rows = rows[:1]
    if arguments.json:
        print_json(rows)
    else:
        print_table(table.causes(again, rows, str(part.root)))
    return 0 if fixing(rows) else 1


def _blamed(dump: "Dump", graphs: list[str]) -> "tuple[Dump, Graph, Path]":
    """The first graph with wrong results that is meant, and the file with the inputs of its call; else CommandError."""
    from inspect_compile.analysis.numerics.kept import blamed, kept_calls

    there = [(part, name) for part in processes(dump) for name in blamed(part)]
    if not there:
        raise CommandError(
            f"{dump.name}: nothing wrong or worse than eager is recorded; inspect-compile numerics"
            " SCRIPT checks each launch"
        )
    found = [(part, name) for part, name in there if not graphs or any(word in name for word in graphs)]
    if not found:
        names = ", ".join(dict.fromkeys(name for _, name in there))
        raise CommandError(f"--graph {graphs[0]}: no such graph has anything wrong recorded; these have: {names}")
    part, name = found[0]
    graph, kept = part.graph(name), kept_calls(part).get(name)
    if kept is None or graph is None:
        raise CommandError(f"{name}: the inputs of the call are not kept; check again with --keep SIZE")
    if not kept.file:
        raise CommandError(
            f"{name}: the inputs of call {kept.call:,}, {kept.bytes:,} bytes, are not kept: {kept.reason}"
        )
    _inputs(part, kept.file).close()
    return part, graph, part.root / kept.file
