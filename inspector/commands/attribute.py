"""`attribute`: the kernels of a profile, each with its launch, FX nodes and source line."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from inspect_compile.commands.garbage import uncollected
from inspect_compile.errors import CommandError

if TYPE_CHECKING:
    from inspect_compile.analysis.runtime.attribution import Attribution
    from inspect_compile.dump import Dump
    from inspect_compile.profiles import Profile

ROWS = 15
"""Default number of rows of each table."""
BY = ("step", "line", "module", "kernel", "op")


class Attribute:
    """Joins a profile with a dump."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        from inspect_compile.commands.dump_selection import add_part

        parser.usage = (
            "inspect-compile attribute [DUMP] TRACE [-o FILE] [--by step|line|module|kernel|op] [--step FILE:LINE] "
            "[--rank R] [--target GPU] [--json] [--limit N | --all]"
        )
        parser.epilog = (
            "TRACE: a torch.profiler Chrome trace (.json, .json.gz), an Nsight Systems export (.sqlite, or the CSV of "
            "nsys stats), or the CSV of Nsight Compute."
        )
        parser.add_argument(
            "words", nargs="+", metavar="[DUMP] TRACE", help="the dump, and the profile of the same program"
        )
        add_part(parser, replay=False)
        parser.add_argument("-o", "--output", metavar="FILE", help="the same Chrome trace with notes on each kernel")
        parser.add_argument(
            "--by", choices=BY, help="print one table only; step: where the time of a step goes, in detail"
        )
        parser.add_argument(
            "--step", metavar="FILE:LINE", help="a step is a call of the function with this line (with_stack=True)"
        )
        parser.add_argument(
            "--json", action="store_true", help="one JSON object per line for each run, or with --by each row"
        )
        parser.add_argument("--limit", metavar="N", type=int, help=f"at most N rows of each table (default {ROWS})")
        parser.add_argument("--all", action="store_true", help="all rows")

    def run(self, arguments: argparse.Namespace) -> int:
        """Join and print the profile."""
        from inspect_compile.analysis.lookup.answer import Unknown
        from inspect_compile.analysis.lookup.profiles import find_profile
        from inspect_compile.analysis.runtime.attribution import attribute
        from inspect_compile.commands.dump_selection import needs_rank, selected, tell_left_out
        from inspect_compile.tables.lookup_text import only, unresolved_text

        *dumps, trace = arguments.words
        if len(dumps) > 1:
            raise CommandError("one dump and one profile: inspect-compile attribute [DUMP] TRACE")
        path = Path(trace)
        dump = selected(dumps[0] if dumps else None, arguments)
        needs_rank(dump, "graphs")
        with uncollected():  # a long profile is millions of small objects, none of them in a cycle
            answer = find_profile(dump, trace)
            if isinstance(answer, Unknown) and answer.kind == "file of a profile":
                raise CommandError(f"{unresolved_text(answer)}; attribute takes [DUMP] TRACE, the profile last")
            profile = only(answer)
            found = attribute(dump, profile)
            if not found.runs:
                counts = f"{profile.events:,} events, {found.calls:,} calls of compiled graphs"
                raise CommandError(f"{path}: nothing in it ran on a GPU, and no compiled graph on the CPU ({counts})")
            self._print(dump, found, profile, arguments)
            if arguments.output is not None:
                _annotate(path, Path(arguments.output), dump, found, profile)
        tell_left_out(dump)
        return 0

    @staticmethod
    def _print(dump: "Dump", found: "Attribution", profile: "Profile", arguments: argparse.Namespace) -> None:
        from inspect_compile.analysis.cost.launch_origins import BY as ALL
        from inspect_compile.analysis.cost.roofs import gpu_of, of_target, roof_of
        from inspect_compile.analysis.runtime.attributed_time import LaunchTimes, attributed_runs, unattributed
        from inspect_compile.analysis.runtime.step_of_dump import account_of, account_rows
        from inspect_compile.graph import Graphs
        from inspect_compile.knowledge.targets.devices import device_named

        device = device_named(profile.device) if profile.device else gpu_of(dump)
        roof = of_target(device) if device is not None else roof_of(dump)
        account = account_of(dump, profile, found, roof, arguments.step) if arguments.by in (None, "step") else None
        if arguments.step is not None and (account is None or account.step.by != arguments.step):
            raise CommandError(_no_step(arguments.step, profile))
        chosen_by = tuple(by for by in ALL if arguments.by in (None, by))
        if arguments.json:
            from inspect_compile.commands.printing import print_json

            if arguments.by == "step":
                print_json(
                    () if account is None else account_rows(Graphs(dump), account=account), limit=arguments.limit
                )
            elif arguments.by is None:
                print_json(attributed_runs(dump, found), limit=arguments.limit)
            else:
                rows = [*LaunchTimes(dump, found).by(chosen_by[0], device), *unattributed(found)]
                print_json(rows, limit=arguments.limit)
            return
        from inspect_compile.analysis.findings.every import findings_of_account
        from inspect_compile.commands.printing import print_table
        from inspect_compile.tables.overview.findings import first_lines
        from inspect_compile.tables.runtime.attribution import attribution
        from inspect_compile.tables.runtime.steps import steps
        from inspect_compile.tables.styled_text import Stack, styled

        limit = None if arguments.all else arguments.limit if arguments.limit is not None else ROWS
        if account is not None:
            print_table(steps(account, by_step=arguments.by == "step", limit=limit))
            if first := findings_of_account(dump, account):
                print_table(Stack([styled("What to change first", "strong"), *first_lines(first)], gap=False))
        if arguments.by == "step":
            return
        times = LaunchTimes(dump, found)
        sums = {by: times.by(by, device) for by in chosen_by}
        print_table(attribution(found, profile, sums, unattributed(found), device, limit))


def _no_step(asked: str, profile: "Profile") -> str:
    if not profile.functions:
        return f"--step {asked}: the profile has no functions; record it with torch.profiler.profile(with_stack=True)"
    return f"--step {asked}: no function with this line was called twice in the profile"


def _annotate(path: Path, to: Path, dump: "Dump", found: "Attribution", profile: "Profile") -> None:
    from inspect_compile.analysis.runtime.attributed_time import notes
    from inspect_compile.commands.output_file import written
    from inspect_compile.profiles import chrome

    if profile.tool != chrome.TOOL:
        raise CommandError(f"-o {to}: only a Chrome trace is written again, and {path} is of {profile.tool}")
    if to.exists() and os.path.samefile(path, to):
        raise CommandError(f"-o {to}: that is the profile itself; name another file")
    with written(to) as file:
        chrome.annotate(path, file, notes(dump, found))
