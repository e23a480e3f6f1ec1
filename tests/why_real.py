"""For each buffer of the schedule, the node that made it, and why it is in memory instead of inlined."""

from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import Lowering, Operation, Realize

_SUBGRAPHS: Final = ("Conditional", "WhileLoop", "InvokeSubgraph", "ScanHigherOrder", "WithEffects")


class RealBuffer(msgspec.Struct, frozen=True, kw_only=True):
    """A buffer of the schedule."""

    graph: str
    buffer: str
    operation: str
    """The operation that writes it."""
    node: str | None
    """The node whose lowering made it; None if that was not recorded."""
    reason: str
    """Empty if nobody realized it and its operation does not need a buffer."""
    caller: str = ""
    """Who realized it, if somebody did."""


def why_real(dump: Dump, graph: str) -> list[RealBuffer]:
    """The buffers of `graph` and its nested graphs, in the order of the schedule before fusion."""
    asks = {(ask.graph, ask.buffer): ask for ask in dump.rows(Realize, graph) if ask.realized}
    makers = {(row.graph, buffer): row.node for row in dump.rows(Lowering, graph) for buffer in row.buffers}
    found = []
    for operation in dump.rows(Operation, graph):
        if operation.phase != "pre_fusion":
            continue
        for buffer in operation.buffers:
            ask = asks.get((operation.graph, buffer))
            found.append(
                RealBuffer(
                    graph=operation.graph,
                    buffer=buffer,
                    operation=operation.name,
                    node=makers.get((operation.graph, buffer)),
                    reason=ask.reason if ask is not None else _by_nature(operation),
                    caller=ask.caller if ask is not None else "",
                )
            )
    return found


def _by_nature(operation: Operation) -> str:
    """Why an operation that nobody realized has a buffer."""
    outer, _, inner = operation.ir_type.partition("(")
    if operation.kind == "template" or "Template" in outer:
        return "the result of a template kernel"
    if outer == "MultiOutput":
        return "one of the results of an extern kernel"
    if outer in _SUBGRAPHS:
        return "what a subgraph returns"
    if outer == "UserDefinedTritonKernel":
        return "the program's own Triton kernel writes it"
    if outer == "ConcatKernel":
        return "a concatenation: its parts are written into it"
    if inner.startswith("Scatter"):
        return "values are scattered into another buffer's memory"
    if operation.kind == "extern":
        return f"the result of an extern kernel, {operation.extern_kernel or outer}"
    if operation.kind == "nop":
        return "memory, or an order of things, for which nothing is computed"
    if any(access.kind == "star" and access.buffer not in operation.buffers for access in operation.writes):
        return "it is written in place"
    return "it is written into another buffer's place" if outer == "ComputedBuffer" and inner else ""
