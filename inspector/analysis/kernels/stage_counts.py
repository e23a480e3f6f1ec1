"""Finds what the stages contain for a line of a kernel's source, an FX node or a source line of the program."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from inspect_compile.analysis.dumps.program_line import ProgramLine
from inspect_compile.analysis.kernels.binaries import Configuration
from inspect_compile.analysis.kernels.instructions import operation
from inspect_compile.analysis.kernels.launches import USER_TRITON
from inspect_compile.analysis.kernels.stage_lines import STAGES, KernelStages, Stage, StageLine, of_all
from inspect_compile.analysis.kernels.statements import Annotated, Statements
from inspect_compile.errors import CommandError
from inspect_compile.facts import Location

_MOST_NAMED: Final = 8
"""Maximum number of names that an error lists."""


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
    """The lines that some stage has something of, or that belong to a node; and why stages without a mapping
    have none.
    """
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


def lines_meant(statements: Statements, stages: KernelStages, line: str | None, node: str | None) -> frozenset[int]:
    """The lines of the kernel's source that match both `line`, a line of the source or of the program, and `node`."""
    kernel, length = stages.kernel, len(stages.source)
    if not length:
        raise CommandError(f"{kernel.name}: its source is not in the dump")
    meant = _all_of(stages)
    if line is not None and line.isascii() and line.isdecimal():
        number = int(line[:9])
        if not 0 < number <= length:
            raise CommandError(f"--line {line}: the source of {kernel.name} has the lines 1 to {length}")
        meant = frozenset({number})
    elif line is not None:
        meant &= _of_program(statements, stages, line)
    if node is not None:
        meant &= _of_node(statements, stages, node)
    if not meant:
        raise CommandError(f"{kernel.name}: no statement is of both --line {line} and --node {node}")
    return meant


def _of_program(statements: Statements, stages: KernelStages, text: str) -> frozenset[int]:
    asked = ProgramLine.read(text)
    if asked is None:
        raise CommandError(
            f"--line {text}: neither a line of the kernel's source, `25`, nor one of the program, `model.py:12`"
        )
    kernel, rows = stages.kernel, statements.of_all_calls(stages.kernel)
    if kernel.kind == USER_TRITON and any(map(asked.is_at, kernel.lines)):
        return _all_of(stages)
    found = frozenset(row.line for row in rows if any(map(asked.is_at, row.lines)))
    there = (place for row in rows for place in row.lines)
    places = (
        f"{place.file.replace(chr(92), '/').rpartition('/')[2]}:{place.line}" for place in (*kernel.lines, *there)
    )
    return found or _none(stages, f"--line {text}", rows, places)


def _of_node(statements: Statements, stages: KernelStages, name: str) -> frozenset[int]:
    kernel, rows = stages.kernel, statements.of_all_calls(stages.kernel)
    bare = name.removeprefix("%").rpartition("/")[2]
    if kernel.kind == USER_TRITON and bare in kernel.nodes:
        return _all_of(stages)
    found = frozenset(row.line for row in rows if bare in row.nodes)
    return found or _none(stages, f"--node {name}", rows, (node for row in rows for node in row.nodes))


def _all_of(stages: KernelStages) -> frozenset[int]:
    return frozenset(range(1, len(stages.source) + 1))


def _none(stages: KernelStages, asked: str, rows: list[Annotated], names: Iterable[str]) -> frozenset[int]:
    kernel = stages.kernel
    if not rows and kernel.kind != USER_TRITON:
        raise CommandError(f"{asked}: of which node each statement of {kernel.name} is was not recorded")
    there = list(dict.fromkeys(names))
    more = f" … {len(there) - _MOST_NAMED} more" if len(there) > _MOST_NAMED else ""
    told = f"there are {', '.join(there[:_MOST_NAMED])}{more}" if there else "of none is any known"
    raise CommandError(f"{asked}: no statement of {kernel.name} is of it; {told}")


def narrowed(rows: Iterable[StageLine], meant: frozenset[int] | None) -> list[StageLine]:
    """The rows that come from the `meant` lines of the source; all rows if that is None."""
    return [row for row in rows if meant is None or not meant.isdisjoint(row.source)]


def operations(stage: Stage, rows: Iterable[StageLine]) -> dict[str, int]:
    """Instruction name → count over these rows of a stage, most frequent first."""
    found = Counter(done for row in rows if (done := operation(stage.name, row.text)))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
