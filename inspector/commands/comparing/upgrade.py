"""`upgrade`: the same program in two environments, and what the difference of time and memory comes from."""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_compile.analysis.compare.proof import Plain, Proof
    from inspect_compile.analysis.compare.upgrade import Assigned
    from inspect_compile.commands.program import Program
    from inspect_compile.dump import Dump


RUNS = 3


class Upgrade:
    """Records with both, and compares."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options that stand before the program."""
        parser.usage = "inspect-compile upgrade --old ENV --new ENV [options] SCRIPT [ARG …]  |  -m MODULE [ARG …]"
        parser.epilog = (
            "ENV is a virtual environment's folder or a Python executable. Nothing is installed there:"
            " inspect-compile is put on PYTHONPATH."
        )
        parser.add_argument("--old", metavar="ENV", required=True, help="the old environment")
        parser.add_argument("--new", metavar="ENV", required=True, help="the new environment")
        parser.add_argument("--dump", metavar="DIR", help="where to record both; a new or empty directory")
        parser.add_argument(
            "--target",
            metavar="GPU",
            help="compile for a GPU that this machine does not have (sm_90, …); nothing is timed",
        )
        parser.add_argument(
            "--runs",
            metavar="N",
            type=int,
            help=f"run each N times, in turn, to measure noise (default {RUNS}; 1 where nothing is timed)",
        )
        parser.add_argument(
            "--prove",
            action="store_true",
            help="run NEW again with OLD's defaults of changed torch settings, and report which differences disappear",
        )
        parser.add_argument(
            "--swap",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            type=_setting,
            help="the same with this setting of torch._inductor.config; prefix others with _dynamo. or _functorch.",
        )
        parser.add_argument("--no-measure", action="store_true", help="do not time launches")
        parser.add_argument("--json", action="store_true", help="one JSON object per line")

    def run(self, arguments: argparse.Namespace) -> int:
        """Record, compare, and print the page."""
        from inspect_compile.analysis.compare.upgrade import upgrade
        from inspect_compile.commands.printing import print_json, print_table
        from inspect_compile.tables.compare.upgrade import page

        runs = _Runs(arguments)
        runs.record_both()
        old, new = runs.dumps["old"], runs.dumps["new"]
        found = upgrade(old, new, ("old", "new"))
        proved = runs.proved(found) if arguments.prove or arguments.swap else None
        if arguments.json:
            print_json([found.whole, *found.shares, *([proved] if proved else []), *found.causes, *found.parts])
        else:
            a, b = found.places
            print_table(page(found, str(old[a].root), str(new[b].root), proved))
        return 1 if found.causes else 0


class _Runs:
    """The runs of the program, and their dumps."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        """Raises CommandError."""
        from inspect_compile.dump.root import make_root
        from inspect_compile.launch.elsewhere import environment

        self._arguments = arguments
        self._words = _words(arguments.program)
        is_timed = not (arguments.no_measure or arguments.target)
        self._runs = arguments.runs if arguments.runs is not None else RUNS if is_timed else 1
        if self._runs < 1:
            raise CommandError(f"--runs {self._runs}: at least 1")
        self._environments = {"old": environment(arguments.old), "new": environment(arguments.new)}
        self._root = Path(arguments.dump or tempfile.mkdtemp(prefix="inspect_compile_upgrade_"))
        make_root(self._root)
        target = ["--target", arguments.target] if arguments.target else []
        self._options = ["--cache", "bypass", *(["--measure"] if is_timed else []), *target]
        self.dumps: dict[str, list[Dump]] = {"old": [], "new": [], "back": []}

    def record_both(self) -> None:
        """Each environment in turn. Raises CommandError if one fails, or compiles nothing."""
        for number in range(1, self._runs + 1):
            for name in ("old", "new"):
                self._record(name, name, number, None)

    def proved(self, found: "Assigned") -> "Proof":
        """The new environment with settings of the old one; without runs if there are none to set."""
        from inspect_compile.analysis.compare.proof import Proof, old_settings, proof
        from inspect_compile.launch.elsewhere import settings

        before, now = (settings(self._environments[name]) for name in ("old", "new"))
        chosen = dict(self._arguments.swap) or old_settings(before, now)
        if not chosen:
            return Proof(settings={}, seconds=None, spread=None, back=None, gone=(), left=len(found.causes))
        for number in range(1, self._runs + 1):
            self._record("back", "new", number, chosen)
        changed = {name: f"{now.get(name)!r} → {value!r}" for name, value in chosen.items()}
        return proof(found, self.dumps["old"], self.dumps["back"], changed, ("old", "new with settings of old"))

    def _record(self, name: str, of: str, number: int, settings: "Mapping[str, Plain] | None") -> None:
        from inspect_compile.commands.dump_selection import for_target
        from inspect_compile.dump import Dump
        from inspect_compile.launch.elsewhere import record

        place = self._root / (name if self._runs == 1 else f"{name}_{number}")
        links, target = self._root / f".python_{of}", self._arguments.target
        status = record(self._environments[of], place, links, self._words, self._options, settings)
        where = getattr(self._arguments, of)
        if status:
            raise CommandError(f"{' '.join(self._words)} ended with status {status} in {where}")
        dump = for_target(Dump(place), target)
        if not dump.graphs():
            raise CommandError(f"{' '.join(self._words)}: nothing was compiled in {where}")
        self.dumps[name].append(dump)


def _setting(text: str) -> "tuple[str, Plain]":
    """`max_fusion_size=1`, of torch._inductor.config unless it begins with _dynamo. or _functorch."""
    from inspect_compile.commands.replay import setting

    name, value = setting(text)
    return name if name.startswith(("_inductor.", "_dynamo.", "_functorch.")) else f"_inductor.{name}", value


def _words(program: "Program | None") -> list[str]:
    if program is None or not program.words:
        raise CommandError("no program given: inspect-compile upgrade --old ENV --new ENV SCRIPT, or -m MODULE")
    if program.kind == "command":
        raise CommandError("upgrade takes a SCRIPT or -m MODULE, not a COMMAND with its own Python")
    if program.kind == "script" and not Path(program.words[0]).exists():
        raise CommandError(f"{program.words[0]}: there is no such script")
    return ["-m", *program.words] if program.kind == "module" else list(program.words)
