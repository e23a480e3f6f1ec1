"""The records that the first page of a dump is made from."""

from typing import NamedTuple

from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.overview.records import GraphSummary, RunSummary, Totals
from inspect_compile.facts import StepAccount, StepTime


class Overview(NamedTuple):
    """What the first page tells. `show overview --json` prints these records."""

    run: RunSummary
    totals: Totals
    graphs: list[GraphSummary]
    lines: list[LineCost]
    findings: list[Finding]
    step: StepAccount | None = None
    """The steps that the run profiled; None if it profiled none, or where one graph is asked for."""
    step_times: list[StepTime] = []  # noqa: RUF012
    """The parts of a step."""
