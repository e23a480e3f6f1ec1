"""The records of the first page, computed from the tables of a dump."""

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.line_costs import line_costs, only_cold
from inspect_compile.analysis.findings.page import Overview
from inspect_compile.analysis.overview.overview import graph_rows, totals
from inspect_compile.analysis.overview.summary import summarize_run
from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.graph import Graphs


def computed(graphs: Graphs) -> Overview:
    """Everything that the overview tells, from the tables of the dump; `graph` restricts it to one."""
    rows = graph_rows(graphs)
    cold = sorted(only_cold(graphs.dump)) if graphs.name is None else []
    every = totals(rows, cold)
    account = recorded_account(graphs.dump) if graphs.name is None else None
    step, times = (None, []) if account is None else account
    return Overview(summarize_run(graphs.dump), every, rows, line_costs(graphs), findings(graphs), step, times)
