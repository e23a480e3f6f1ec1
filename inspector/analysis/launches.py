"""Each call of a kernel, in the order of the generated code, with what that call computes.

A kernel is defined once for all groups with the same source: which of its groups a call runs follows from the buffers
that the call is given.
"""

from collections.abc import Iterable

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel, Operation, WrapperLine


class Launch(msgspec.Struct, frozen=True):
    """One call of a kernel or extern function."""

    graph: str
    kernel: Kernel
    line: int | None
    """In output_code.py; None for a kernel whose call was not seen."""
    groups: tuple[str, ...]
    """Scheduler nodes after fusion that this call runs."""
    operations: tuple[str, ...]
    nodes: tuple[str, ...]
    """FX origins, in the graph's order."""
    arguments: tuple[str, ...]


def distinct(kernels: Iterable[Kernel]) -> set[tuple[str, str, str]]:
    """(kind, graph, name) of each kernel once: the calls of an extern function are rows of their own."""
    return {(kernel.kind, kernel.graph, kernel.name) for kernel in kernels}


def launches(dump: Dump, graph: str) -> list[Launch]:
    """The calls of `graph`, nested graphs included, by line; kernels whose call was not seen come last."""
    rows = {
        (row.graph, row.kernel, line): row
        for row in dump.rows(WrapperLine, graph)
        if row.kernel
        for line in _lines(row)
    }
    groups = {(row.graph, row.name): row for row in dump.rows(Operation, graph) if row.phase == "post_fusion"}
    found = []
    for kernel in dump.rows(Kernel, graph):
        calls: list[tuple[int | None, WrapperLine | None]]
        calls = [(line, rows.get((kernel.graph, kernel.name, line))) for line in kernel.launches] or [(None, None)]
        for (line, row), own in zip(calls, _divided(kernel, [row for _, row in calls], groups), strict=True):
            members = [groups[kernel.graph, name] for name in own if (kernel.graph, name) in groups]
            operations = tuple(member for group in members for member in group.members)
            origins = {node for group in members for node in group.nodes}
            is_all = len(calls) == 1
            found.append(
                Launch(
                    kernel.graph,
                    kernel,
                    line,
                    own,
                    kernel.operations if is_all else operations,
                    kernel.nodes if is_all else tuple(node for node in kernel.nodes if node in origins),
                    row.arguments if row else (),
                )
            )
    return sorted(found, key=lambda launch: 1 << 30 if launch.line is None else launch.line)


def _lines(row: WrapperLine) -> range:
    return range(row.line, (row.end or row.line) + 1) if row.line is not None else range(0)


def _divided(
    kernel: Kernel, rows: list[WrapperLine | None], groups: dict[tuple[str, str], Operation]
) -> list[tuple[str, ...]]:
    """The groups of each call. A group all of whose buffers stay inside the kernel goes with the group before it."""
    if len(rows) == 1:
        return [kernel.groups]
    divided: list[list[str]] = [[] for _ in rows]
    call_of: dict[str, int] = {}
    for call, row in enumerate(rows):
        for buffer in row.arguments if row else ():
            call_of.setdefault(buffer, call)  # the first call with a buffer writes it, later ones read it
    last = 0
    for name in kernel.groups:
        group = groups.get((kernel.graph, name))
        calls = [call_of[buffer] for buffer in (group.buffers if group else ()) if buffer in call_of]
        last = calls[0] if calls else last
        divided[last].append(name)
    return [tuple(names) for names in divided]
