"""How long each launch took in a profile."""

from inspect_compile.analysis.cost.roofline import CallTime
from inspect_compile.analysis.kernels.launch_times import Key
from inspect_compile.analysis.runtime.attribution import Attribution


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
