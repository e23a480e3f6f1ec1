"""The lines about a node's lowering and its operations in lowering.txt and on a node's page."""

import re
from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.lowering.inlining import Inlined
from inspect_compile.analysis.lowering.ir_text import fold
from inspect_compile.analysis.lowering.operations import MOST_ANCESTORS, Operations
from inspect_compile.analysis.lowering.steps import Step
from inspect_compile.facts import Access, Lowering, Operation, Realize, Symbol
from inspect_compile.graph import Id, few
from inspect_compile.graph.provenance.chain import Provenance
from inspect_compile.tables.lowering.symbols import range_text
from inspect_compile.tables.text import number_of, one_line, place_text, seconds_text

_CAN_INPLACE = re.compile(r"NodeUser\(node=(?:\w++\()?(?:name=')?(\w++)'?\)?, can_inplace=(True|False)")
_LABEL = 8
_MOST_BUFFERS = 64
"""Maximum number of buffers of one operation in one step: an operation with many origins must not be printed in full
each time.
"""
_MOST_CONSUMERS = 8
_KNOWN_WAYS: Final = {
    "placeholder": "an input of the graph",
    "constant": "a constant, or a graph that a node calls",
    "getitem": "one element of a tuple",
    "output": "the graph's outputs",
    "failed": "its lowering raised an exception",
}
"""Kinds of lowering for which no function is named."""


def step_lines(
    step: Step, chain: Provenance, operations: dict[Id, Operation], printed: set[str], virtual: dict[Id, Inlined]
) -> Iterator[str]:
    """A node with how it was lowered, its arguments, what was realized, the result and where that ended.

    What is in `printed` is not printed again, and what is printed is added to it.
    """
    row, node = step.row, step.node
    where = node.where if node is not None else None
    title = [row.node, row.target if row.op == "call_function" else row.op]
    if where is not None:
        title += [place_text(where), one_line(where.code)]
    if node is not None and node.module:
        title.append(f"in {node.module}")
    if row.op == "call_function":
        title.append(f"{row.flops:,} FLOP" + (f" ({row.flops_kind})" if row.flops_kind not in ("none", "") else ""))
    yield "   ".join(title)
    yield field("how", _way(row))
    if row.constraint is not None:
        yield field("layout", f"its arguments were first converted to the layout of {row.constraint}()")
    if row.arguments:
        yield field("in", ", ".join(row.arguments))
        for name, value in step.arguments:
            yield field("", f"%{name} = {value}")
    for ask in step.realizes:
        yield from _ask(ask, printed)
    if row.op == "output":
        return
    if row.error is not None:
        yield field("error", one_line(row.error))
    elif row.same_as is not None:
        yield field("out", f"%{row.same_as} itself")
    else:
        yield from _block("out", fold(row.result, printed, node=row.node))
        printed.add(f"%{row.node}")
    if row.buffers or row.operations:
        yield field("made", "   ".join(_made(row, operations)))
    if (found := virtual.get(Id(row.graph, row.node))) is not None:
        yield field("inlined", inlined_text(found))
    yield from _later(row, chain)
    yield field("took", seconds_text(row.seconds))


def inlined_text(found: Inlined) -> str:
    """Who computes a value that was never realized, and for which nodes."""
    if not found.count:
        return "never realized, and nothing that runs needs it"
    whose = _listed(found.consumers)
    of = f", for {whose}" if whose else ""
    return f"never realized: computed in {number_of(found.count, 'operation')}, {_listed(found.operations)}{of}"


def _listed(names: tuple[str, ...]) -> str:
    return few(names, _MOST_CONSUMERS, " ")


def symbol_text(row: Symbol) -> str:
    """`s0 = 8, 2 …: L['x'].size()[0], net.py:4`."""
    hint = f" = {row.hint}" if row.hint else ""
    reach = f", {range_text(row)}" if row.lower or row.upper else ""
    origin = ", ".join(part for part in (one_line(row.source), place_text(row.where)) if part)
    return f"{row.name}{hint}{reach}" + (f": {origin}" if origin else "")


def field(label: str, text: str) -> str:
    """One line with its label in a separate column."""
    return f"  {label:<{_LABEL}}{text}"


def _block(label: str, text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield f"  {label:<{_LABEL}}{line}"
        label = ""


def _way(row: Lowering) -> str:
    if row.way in _KNOWN_WAYS:
        return f"{row.way}: {_KNOWN_WAYS[row.way]}"
    function, _, place = row.via.partition(" ")
    return f"{row.way}   {place}   {function}()" if place else f"{row.way}   {function}".rstrip()


def _ask(ask: Realize, printed: set[str]) -> Iterator[str]:
    whose = f" (the value of {ask.origin})" if ask.origin not in (None, ask.node, ask.buffer) else ""
    name = ask.buffer or "an unnamed value"
    who = f"{ask.caller} through {ask.through}" if ask.through else ask.caller
    if not ask.realized:
        yield field("stored", f"{name}{whose} already is: {ask.reason}   [{who}]")
        return
    yield field("stored", f"{name}{whose}, a {ask.ir} until now: {ask.reason}   [{who}]")
    yield from _block("", fold(ask.text, printed, node=ask.node or ""))


def _made(row: Lowering, operations: dict[Id, Operation]) -> Iterator[str]:
    shown: set[str] = set()
    for name in row.operations:
        operation = operations.get(Id(row.graph, name))
        buffers = operation.buffers[:_MOST_BUFFERS] if operation else ()
        shown.update(buffers)
        yield " ".join((*buffers, name, _kind(operation)))
    yield from (name for name in row.buffers if name not in shown)


def _kind(operation: Operation | None) -> str:
    if operation is None:
        return "(removed before scheduling)"
    return " ".join(part for part in (operation.ir_type, operation.extern_kernel or "") if part)


def _later(row: Lowering, chain: Provenance) -> Iterator[str]:
    """Where the generated code computes it."""
    key = chain.key(row.graph, row.node)
    operations = chain.operations_of_node.get(key, set()) | {chain.key(row.graph, name) for name in row.operations}
    kernels = {place for name in operations for place in chain.kernels_of_operation.get(name, ())}
    kernels |= chain.kernels_of_node.get(key, set())
    if kernels:
        names = dict.fromkeys(chain.kernels[place].name for place in sorted(kernels))
        listed = sorted(operations, key=lambda name: (len(name), name))
        shown = " ".join(listed[:8]) + (f" and {number_of(len(listed) - 8, 'more', 'more')}" if len(listed) > 8 else "")
        yield field("later", f"in {shown}   →   {', '.join(names)}" if listed else f"in {', '.join(names)}")


def operation_lines(operations: Operations, row: Operation) -> Iterator[str]:
    """What it reads, writes, waits for and is used by."""
    maker = operations.makers.get(Id.of(row))
    yield f"{row.name}   {row.kind}   {row.node_type}   {_ir(row)}   from {' '.join(row.nodes) or 'no node'}"
    yield field("order", f"{row.order}   {_group(row)}")
    if maker is not None and maker.flops and row.kind in ("extern", "template"):
        yield field("FLOP", f"{maker.flops:,} ({maker.flops_kind}), for {maker.node}")
    yield field("waits", f"for {' '.join(row.predecessors)}" if row.predecessors else "no unmet dependency")
    if ancestors := sorted(operations.ancestors(row) - set(row.predecessors), key=_number):
        yield field("", f"after these: {_ancestors(ancestors)} (recursive predecessors)")
    written = {access.buffer: operations.writers.get(Id(row.graph, access.buffer), "") for access in row.reads}
    before_it = set(row.predecessors)
    waited = {buffer: name for buffer, name in written.items() if name in before_it}
    yield from _accesses("reads", row.reads, waited)
    yield from _accesses("writes", row.writes, {})
    yield field("users", _users(row, operations.text(row)))
    final = operations.after.get(Id.of(row))
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


def _ancestors(names: list[str]) -> str:
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
