"""The lines about one scheduler operation in lowering.txt and on a node's page."""

import re
from collections.abc import Iterator

from inspect_compile.analysis.lowering.operations import MOST_ANCESTORS, Operations
from inspect_compile.facts import Access, Operation
from inspect_compile.tables.lowering.step_text import field

_CAN_INPLACE = re.compile(r"NodeUser\(node=(?:\w++\()?(?:name=')?(\w++)'?\)?, can_inplace=(True|False)")


def operation_lines(operations: Operations, row: Operation) -> Iterator[str]:
    """What it reads, writes, waits for and is used by."""
    maker = operations.makers.get((row.graph, row.name))
    yield f"{row.name}   {row.kind}   {row.node_type}   {_ir(row)}   from {' '.join(row.nodes) or 'no node'}"
    yield field("order", f"{row.order}   {_group(row)}")
    if maker is not None and maker.flops and row.kind in ("extern", "template"):
        yield field("FLOP", f"{maker.flops:,} ({maker.flops_kind}), for {maker.node}")
    yield field(
        "waits", f"for {' '.join(row.predecessors)}" if row.predecessors else "for nothing (no unmet dependency)"
    )
    if ancestors := sorted(operations.ancestors(row) - set(row.predecessors), key=_number):
        yield field("", f"after these: {_listed(ancestors)} (recursive predecessors)")
    written = {access.buffer: operations.writers.get((row.graph, access.buffer), "") for access in row.reads}
    before_it = set(row.predecessors)
    waited = {buffer: name for buffer, name in written.items() if name in before_it}
    yield from _accesses("reads", row.reads, waited)
    yield from _accesses("writes", row.writes, {})
    yield field("users", _users(row, operations.text(row)))
    final = operations.after.get((row.graph, row.name))
    if final is not None and final.last_usage:
        whose = "" if final.name == row.name else f"   (as a part of {final.name})"
        yield field("last", f"use of {' '.join(final.last_usage)}{whose}")


def _ir(row: Operation) -> str:
    return " ".join(
        part for part in (row.ir_type, row.extern_kernel or "", f"on {row.device}" if row.device else "") if part
    )


def _group(row: Operation) -> str:
    if not row.numel:
        return "no loops of its own"
    return f"group ({row.device}, ({row.numel}, {row.rnumel or 1}))"


def _number(name: str) -> tuple[int, str]:
    digits = re.search(r"(?<!\d)\d+$", name)
    return (int(digits[0]) if digits else 0), name


def _listed(names: list[str]) -> str:
    return " ".join(names[:MOST_ANCESTORS]) + (" and more" if len(names) > MOST_ANCESTORS else "")


def _accesses(label: str, accesses: tuple[Access, ...], waited: dict[str, str]) -> Iterator[str]:
    for access in accesses:
        index = f"[{access.index}]   {{{', '.join(access.ranges)}}}" if access.index is not None else ", all of it"
        if access.kind == "weak":
            index = ", only to keep the order"
        size = "" if access.bytes is None else f"   {access.bytes:,} B"
        waits = f"   written by {waited[access.buffer]}" if access.buffer in waited else ""
        yield field(label, f"{access.buffer}{index}{size}{waits}")
        label = ""


def _users(row: Operation, text: str) -> str:
    inplace = {match[1] for match in _CAN_INPLACE.finditer(text) if match[2] == "True"}
    return "   ".join(f"{name} (may write in place)" if name in inplace else name for name in row.users) or "none"
