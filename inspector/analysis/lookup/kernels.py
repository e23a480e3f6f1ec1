"""Finds the kernels that a person names, and a configuration of one."""

from inspect_compile.analysis.kernels.stage_lines import KernelStages
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown, unknown
from inspect_compile.analysis.lookup.names import Names
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from inspect_compile.graph import Graphs, Id, operations_in
from inspect_compile.graph.kernels.binaries import Configuration


def find_kernels(graphs: Graphs, text: str, *, extern: bool = False) -> Answer[Kernel]:
    """The kernels called `text`, or all that have it as a part of their names, or what else means a kernel (a hash, a
    line of output_code.py); else those that run the operations that it means (a buffer, a line of the program).

    With `extern` also the extern kernels, after the others: for each graph the first call of each.
    """
    known: dict[Id, Kernel] = {}
    for row in sorted(graphs.rows(Kernel), key=lambda row: row.kind == "extern"):
        if extern or row.kind != "extern":
            known.setdefault(Id.of(row), row)
    exact = tuple(row for row in known.values() if row.name == text)
    found = exact or tuple(row for row in known.values() if text in row.name)
    if not found:
        meant = _meant(graphs, text)
        found = tuple(row for key, row in known.items() if key in meant)
    names = (row.name for row in known.values())
    return Found(found) if found else unknown(graphs.dump, text, "kernel", names, graphs.name or "")


def _meant(graphs: Graphs, text: str) -> set[Id]:
    """(graph, name) of the kernels that are meant by something other than their name."""
    named = Names(graphs.dump, (graphs.name,)).find(text)
    if isinstance(named, Found):
        return {Id(row.graph, row.kernel) for resolved in named.all for row in resolved.kernels}
    answer = find_operations(graphs, (text,))
    if not isinstance(answer, Found):
        return set()
    operations = {
        Id(one.graph, part) for (one,) in answer.all for name in one.operations for part in operations_in(name)
    }
    return {
        Id.of(row) for row in graphs.rows(Kernel) if any(Id(row.graph, name) in operations for name in row.operations)
    }


def find_configuration(dump: Dump, stages: KernelStages, label: str | None) -> Answer[Configuration]:
    """The configuration whose label contains `label`; the one that runs if it is None."""
    exact = [row for row in stages.compiled if label is None or row.label == label]
    found = exact or [row for row in stages.compiled if label is not None and label in row.label]
    if found:
        return Found((found[0],))
    return Unknown(label or "", "configuration", dump.root, there=tuple(stages.labels()), among=stages.kernel.name)
