"""Each call of a kernel, in the order of the generated code, with what that call computes.

A kernel is defined once for all groups with the same source; which of them a call runs follows from the buffers it is
given.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from inspect_compile.facts import Kernel, Location, Operation, WrapperLine
from inspect_compile.graph.ids import Id

if TYPE_CHECKING:
    from inspect_compile.graph.compiled import CompiledGraph

USER_TRITON: Final = "user_triton"
"""The kind of a Triton kernel written by the user."""


class Launch(msgspec.Struct, frozen=True):
    """One call of a kernel or extern function."""

    graph: str
    kernel: Kernel
    line: int | None
    """Line number in output_code.py; None if the kernel's call was not recorded."""
    groups: tuple[str, ...]
    """Scheduler nodes after fusion that this call runs."""
    operations: tuple[str, ...]
    nodes: tuple[str, ...]
    """FX origins, in graph order."""
    arguments: tuple[str, ...]
    lines: tuple[Location, ...] = ()
    """Source lines, each once, in the order of the nodes."""

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Graph, kernel and line: what every figure of a launch is known by."""
        return self.graph, self.kernel.name, self.line


def distinct(kernels: Iterable[Kernel]) -> set[tuple[str, str, str]]:
    """(kind, graph, name) of each kernel once; each call of an extern function has a separate row."""
    return {(kernel.kind, kernel.graph, kernel.name) for kernel in kernels}


def launches(graph: "CompiledGraph") -> list[Launch]:
    """The calls of `graph`, nested graphs included, by line; kernels whose call was not recorded come last."""
    rows = _calls(graph.rows(Kernel), graph.rows(WrapperLine))
    groups = graph.group_of
    kernels = graph.rows(Kernel)
    where = graph.line_of if any(len(kernel.launches) > 1 for kernel in kernels) else {}
    found = []
    for kernel in kernels:
        calls: list[tuple[int | None, WrapperLine | None]]
        calls = [(line, rows.get((kernel.graph, kernel.name, line))) for line in kernel.launches] or [(None, None)]
        place = {node: index for index, node in reversed(list(enumerate(kernel.nodes)))}
        for (line, row), own in zip(calls, _divided(kernel, [row for _, row in calls], groups), strict=True):
            members = [groups[Id(kernel.graph, name)] for name in own if Id(kernel.graph, name) in groups]
            operations = tuple(member for group in members for member in group.members)
            origins = {node for group in members for node in group.nodes if node in place}
            is_all = len(calls) == 1
            nodes = kernel.nodes if is_all else tuple(sorted(origins, key=place.__getitem__))
            own_lines = (where.get(Id(kernel.graph, node)) for node in nodes)
            found.append(
                Launch(
                    kernel.graph,
                    kernel,
                    line,
                    own,
                    kernel.operations if is_all else operations,
                    nodes,
                    row.arguments if row else (),
                    kernel.lines if is_all else tuple(dict.fromkeys(at for at in own_lines if at is not None)),
                )
            )
    return sorted(found, key=lambda launch: 1 << 30 if launch.line is None else launch.line)


def _calls(kernels: list[Kernel], rows: list[WrapperLine]) -> dict[tuple[str, str, int], WrapperLine]:
    """(graph, kernel, line of its call) → the Wrapper IR line there."""
    lines: dict[Id, set[int]] = {}
    for kernel in kernels:
        lines.setdefault(Id.of(kernel), set()).update(kernel.launches)
    in_order = {key: sorted(found) for key, found in lines.items()}
    found = {}
    for row in rows:
        if row.kernel and row.line is not None:
            called = in_order.get(Id(row.graph, row.kernel), [])
            for line in called[bisect_left(called, row.line) : bisect_right(called, row.end or row.line)]:
                found[row.graph, row.kernel, line] = row
    return found


def _divided(kernel: Kernel, rows: list[WrapperLine | None], groups: dict[Id, Operation]) -> list[tuple[str, ...]]:
    """The groups of each call. One whose buffers stay inside the kernel goes with its reader, else the one before."""
    if len(rows) == 1:
        return [kernel.groups]
    if kernel.kind == USER_TRITON and len(kernel.groups) == len(rows):
        return [(group,) for group in kernel.groups]  # recorded for each call
    divided: list[list[str]] = [[] for _ in rows]
    call_of: dict[str, int] = {}
    first = {id(row): call for call, row in reversed(list(enumerate(rows)))}
    for call, row in enumerate(rows):
        for buffer in row.arguments if row is not None and first[id(row)] == call else ():
            call_of.setdefault(buffer, call)  # the first call with a buffer writes it, later calls read it
    placed: dict[str, int] = {}
    needed: dict[str, int] = {}  # buffers that stay inside the kernel, and the call that reads them
    for name in reversed(kernel.groups):
        group = groups.get(Id(kernel.graph, name))
        own = group.buffers if group is not None else ()
        calls = [call_of[buffer] for buffer in own if buffer in call_of]
        calls += [needed[buffer] for buffer in own if buffer in needed]
        if group is not None and calls:
            placed[name] = calls[0]
            for access in group.reads:
                if access.buffer not in call_of:
                    needed.setdefault(access.buffer, calls[0])
    last = 0
    for name in kernel.groups:
        last = placed.get(name, last)
        divided[last].append(name)
    return [tuple(names) for names in divided]
