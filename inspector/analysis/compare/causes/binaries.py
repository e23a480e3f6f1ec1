"""Where the same source of a kernel was compiled to something else: another configuration, or a stage of Triton's."""

from typing import Final

from inspect_compile.analysis.compare.causes.compiled import Call, Compiled
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.causes.records import LEVELS
from inspect_compile.analysis.compare.causes.texts import plain
from inspect_compile.analysis.kernels.stage_lines import STAGES, KernelStages
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.graph.kernels.binaries import RUNS
from inspect_compile.graph.kernels.chosen import TuningQuery

_STAGES: Final = tuple(stage for stage in LEVELS if stage in STAGES)


class Binaries:
    """The compiled kernels of one graph on both sides."""

    def __init__(self, a: Compiled, b: Compiled) -> None:
        self._a, self._b = a, b
        self._known: dict[tuple[str, str, str, str], Finding | None] = {}

    def finding(self, one: Call, other: Call) -> Finding | None:
        """How two kernels with the same source differ; None if they do not, or are not both in the dumps."""
        key = one.launch.graph, one.name, other.launch.graph, other.name
        if key not in self._known:
            self._known[key] = self._configuration(one, other) or self._stage(one, other)
        return self._known[key]

    def _configuration(self, one: Call, other: Call) -> Finding | None:
        queries = self._a.questions[1].get(one.name), self._b.questions[1].get(other.name)
        ours, theirs = (_runs(call, query) for call, query in zip((one, other), queries, strict=True))
        if not ours or not theirs or ours == theirs:
            return None
        where, old = (next(reversed(call.launch.lines), None) for call in (other, one))
        timings = [_timed(query) or (label,) for query, label in zip(queries, (ours, theirs), strict=True)]
        return Finding(
            "autotune", theirs, f"the same kernel runs as {theirs}, was {ours}",
            ("autotune", one.name, ours, theirs), where, old, *timings,
        )  # fmt: skip

    def _stage(self, one: Call, other: Call) -> Finding | None:
        found = first_stage(self._a.dump, one.launch.kernel, self._b.dump, other.launch.kernel)
        if found is None:
            return None
        stage, label = found
        figures = [_figures(call) for call in (one, other)]
        where, old = (next(reversed(call.launch.lines), None) for call in (other, one))
        return Finding(
            stage, label, f"the same source is compiled to another {stage}, the first stage that differs",
            (stage,), where, old, *figures,
        )  # fmt: skip


def first_stage(a: Dump, kernel: Kernel, b: Dump, other: Kernel) -> tuple[str, str] | None:
    """The first stage in which two kernels differ, and the configuration; None if no text that both have does."""
    ours, theirs = KernelStages(a, kernel), KernelStages(b, other)
    there = {row.label: row for row in theirs.compiled}
    rows = [(row, there[row.label]) for row in ours.compiled if row.label in there]
    for stage in _STAGES:
        for row, same in rows:
            texts = ours.text(row, stage), theirs.text(same, stage)
            if None in texts or texts[0] == texts[1]:
                continue
            read = [plain(text or "", stage, one.name) for text, one in zip(texts, (kernel, other), strict=True)]
            if read[0] != read[1]:
                return stage, row.label
    return None


def _runs(call: Call, query: TuningQuery | None) -> str:
    """The configuration that runs; empty if it is not known."""
    if query is not None and query.winner is not None:
        return query.winner.label
    return call.binary.label if call.binary is not None and call.binary.choice in RUNS else ""


def _timed(query: TuningQuery | None) -> tuple[str, ...]:
    """The choices with their times, the winner first."""
    if query is None:
        return ()
    winner = query.winner.label if query.winner is not None else ""
    rows = sorted(query.compared, key=lambda row: (row.label != winner, row.milliseconds or 0.0))
    return tuple(f"{row.label} {row.milliseconds:.4f} ms" for row in rows[:3] if row.milliseconds is not None)


def _figures(call: Call) -> tuple[str, ...]:
    row = call.binary
    if row is None:
        return ()
    words = ((row.registers, "registers"), (row.spills, "bytes spilled"), (row.shared, "bytes of shared memory"))
    return (f"{row.label}: " + ", ".join(f"{number:,} {word}" for number, word in words if number is not None),)
