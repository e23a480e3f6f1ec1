"""How long each launch took in a profile."""

from pathlib import Path

from inspect_compile.analysis.cost.roofline import CallTime
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.analysis.runtime.attribution import Attribution, attribute
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.profiles import Profile
from inspect_compile.profiles.read import read


def profile_at(path: Path, hint: str = "") -> Profile:
    """The profile in a file; CommandError where there is none, which `hint` then ends, or nothing in it."""
    if not path.is_file():
        raise CommandError(f"{path}: {'a folder, no profile' if path.exists() else 'no such file'}{hint}")
    try:
        profile = read(path)
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{path}: no profile that can be read ({error}); there are torch.profiler's .json and .json.gz, Nsight "
            "Systems' .sqlite and .csv, Nsight Compute's .csv"
        ) from None
    if not profile.runs and not profile.spans:
        raise CommandError(f"{path}: no kernel and no operator is in it ({profile.events:,} events)")
    return profile


def measured_at(dump: Dump, trace: str) -> dict[Key, CallTime]:
    """As `measured_in`, of the profile at the path `trace`; CommandError where none of the dump's launches is in it."""
    found = measured_in(attribute(dump, profile_at(Path(trace))))
    if not found:
        raise CommandError(f"{trace}: none of its kernels is of {dump.root}; `inspect-compile attribute` says why")
    return found


def measured_in(found: Attribution) -> dict[Key, CallTime]:
    """The mean time of a call of each launch: the sum of everything that one call ran on the device."""
    times: dict[Key, list[float]] = {}
    for place, (run, own) in enumerate(zip(found.runs, found.joined, strict=True)):
        if own.launch is None or own.instead:
            continue
        row = times.setdefault((own.launch.graph, own.launch.kernel.name, own.launch.line), [0.0, 0])
        row[0] += run.duration
        row[1] += run.count if place in found.first else 0
    return {
        key: CallTime(microseconds / 1e6 / calls, int(calls), "trace")
        for key, (microseconds, calls) in times.items()
        if calls and microseconds
    }
