"""Counts what the stages of a kernel contain for each line of its source."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from inspect_compile.analysis.kernels.instructions import operation
from inspect_compile.analysis.kernels.stage_lines import STAGES, KernelStages, Stage, StageLine, of_all
from inspect_compile.facts import Location
from inspect_compile.graph.kernels.binaries import Configuration
from inspect_compile.graph.kernels.statements import Statements


class LineCounts(msgspec.Struct, frozen=True, tag_field="fact", tag="line_counts"):
    """One line of a kernel's source, and how many lines of each stage come from it."""

    graph: str
    kernel: str
    configuration: str
    line: int
    """Line number in the kernel's source."""
    text: str
    nodes: tuple[str, ...]
    """Of all calls of the kernel, as are its lines."""
    lines: tuple[Location, ...]
    """Lines of the user's program, each once."""
    counts: dict[str, int]
    """Stage → number of its lines that come from this line; without stages that have no mapping."""


def counted(statements: Statements, stages: KernelStages, row: Configuration) -> tuple[list[LineCounts], list[str]]:
    """The lines that some stage has something of, or that belong to a node; and why other stages have no mapping."""
    kernel, found, notes = stages.kernel, dict[str, Counter[int]](), []
    for name in (name for name in STAGES if name in stages.names(row)):
        stage = stages.stage(row, name)
        if stage.note:
            notes.append(stage.note)
            continue
        found[name] = Counter(line for lines in stage.sources for line in lines)
    known = {one.line: one for one in statements.of_all_calls(kernel)}
    whole = of_all(kernel)
    of_nodes = {line for line, one in known.items() if one.nodes and 0 < line <= len(stages.source)}
    rows = []
    for line in sorted(of_nodes.union(*found.values())):
        one = known.get(line)
        rows.append(
            LineCounts(
                graph=kernel.graph,
                kernel=kernel.name,
                configuration=row.label,
                line=line,
                text=stages.source[line - 1].strip(),
                nodes=one.nodes if one is not None else whole[0],
                lines=one.lines if one is not None else whole[1],
                counts={name: counts[line] for name, counts in found.items()},
            )
        )
    return rows, notes


def narrowed(rows: Iterable[StageLine], meant: frozenset[int] | None) -> list[StageLine]:
    """The rows that come from the `meant` lines of the source; all rows if that is None."""
    return [row for row in rows if meant is None or not meant.isdisjoint(row.source)]


def operations(stage: Stage, rows: Iterable[StageLine]) -> dict[str, int]:
    """Instruction name → count over these rows of a stage, most frequent first."""
    found = Counter(done for row in rows if (done := operation(stage.name, row.text)))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
