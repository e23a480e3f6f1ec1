"""What a dump's replays showed about a setting."""

from inspect_compile.analysis.dumps.parts import replays as replays_of
from inspect_compile.analysis.findings.finding import Trial
from inspect_compile.facts import Remark
from inspect_compile.graph import CompiledGraph


def setting_of(remark: Remark) -> str:
    """The setting that a remark names, as `replay` takes it; empty if it names none."""
    return (remark.knob or "").removeprefix("torch._inductor.config.")


def trial_of(graph: CompiledGraph, knob: str) -> Trial | None:
    """The first replay of `graph` with another value of that one setting, one that changed something if there is any;
    None if it was not tried.
    """
    parts = replays_of(graph.dump).values() if knob else ()
    tried = [part.replay for part in parts if list(part.dump.run.config) == [knob]]
    numbers = [number for number in tried if number is not None]
    if not numbers:
        return None
    from inspect_compile.analysis.compare.replays import replays  # most dumps have none

    rows = [
        Trial(
            row.config[knob],
            row.replay,
            row.same_code is False,
            (row.first.kernels, row.kernels),
            (before, after),
        )
        for found in replays(graph.dump, graph.name, numbers)
        for row, _ in found.again
        if row.replay is not None and row.first is not None and row.status == "compiled"
        if (before := row.first.moved) is not None and (after := row.counts.moved) is not None
    ]
    return next((one for one in rows if one.is_changed), next(iter(rows), None))
