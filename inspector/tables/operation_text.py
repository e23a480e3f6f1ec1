"""One of the scheduler's operations: the lines that tell it in lowering.txt and on a node's page."""

import re
from collections import deque
from collections.abc import Iterator

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Access, Lowering, Operation
from inspect_compile.tables.step_text import field

_CAN_INPLACE = re.compile(r"NodeUser\(node=\w*\(?(?:name=')?(\w+)'?\)?, can_inplace=(True|False)")
_MOST_ANCESTORS = 24
_MOST_LOOKS = 20_000
"""Operations that are looked at for the ancestors of one."""


class Operations:
    """The operations of a graph, and of those nested in it, before fusion."""

    def __init__(self, dump: Dump, graph: str) -> None:
        rows = dump.rows(Operation, graph)
        self.rows = [row for row in rows if row.phase == "pre_fusion"]
        """In the order of the schedule."""
        self._after = {(row.graph, member): row for row in rows if row.phase == "post_fusion" for member in row.members}
        self._makers = {(row.graph, name): row for row in dump.rows(Lowering, graph) for name in row.operations}
        self._known = {(row.graph, row.name): row for row in self.rows}
        self._writers = {(row.graph, buffer): row.name for row in self.rows for buffer in row.buffers}
        graphs = dict.fromkeys(row.graph for row in self.rows)
        self._texts = {one: _by_name(dump.text(one, _file(one)) or "") for one in graphs}

    def of(self, graph: str, name: str) -> Operation | None:
        """The operation of that name."""
        return self._known.get((graph, name))

    def lines(self, row: Operation) -> Iterator[str]:
        """What it reads, writes, waits for and is used by."""
        maker = self._makers.get((row.graph, row.name))
        yield f"{row.name}   {row.kind}   {row.node_type}   {_ir(row)}   from {' '.join(row.nodes) or 'no node'}"
        yield field("order", f"{row.order}   {_group(row)}")
        if maker is not None and maker.flops and row.kind in ("extern", "template"):
            yield field("FLOP", f"{maker.flops:,} ({maker.flops_kind}), for {maker.node}")
        yield field(
            "waits", f"for {' '.join(row.predecessors)}" if row.predecessors else "for nothing (no unmet dependency)"
        )
        if ancestors := sorted(_ancestors(row, self._known) - set(row.predecessors), key=_number):
            yield field("", f"behind these: {_listed(ancestors)} (recursive predecessors)")
        written = {access.buffer: self._writers.get((row.graph, access.buffer), "") for access in row.reads}
        before_it = set(row.predecessors)
        waited = {buffer: name for buffer, name in written.items() if name in before_it}
        yield from _accesses("reads", row.reads, waited)
        yield from _accesses("writes", row.writes, {})
        yield field("users", _users(row, self._texts[row.graph].get(row.name, "")))
        final = self._after.get((row.graph, row.name))
        if final is not None and final.last_usage:
            whose = "" if final.name == row.name else f"   (as a part of {final.name})"
            yield field("last", f"use of {' '.join(final.last_usage)}{whose}")

    def body(self, row: Operation) -> list[str]:
        """Its loops as torch printed them; nothing of an operation without any."""
        text = self._texts[row.graph].get(row.name, "")
        start = text.find("class ")
        return text[start:].rstrip().split("\n") if start >= 0 else []


def _file(graph: str) -> str:
    """torch's text of the scheduler's nodes before fusion; that of a nested graph is a file of its own."""
    stem, _, extension = paths.IR_PRE_FUSION.rpartition(".")
    return ".".join((stem, *graph.split("/")[1:], extension))


def _by_name(text: str) -> dict[str, str]:
    return {name: part for part in text.split("\n\n\n") if (name := part.lstrip("\n").partition(":")[0])}


def _ir(row: Operation) -> str:
    return " ".join(
        part for part in (row.ir_type, row.extern_kernel or "", f"on {row.device}" if row.device else "") if part
    )


def _group(row: Operation) -> str:
    if not row.numel:
        return "no loops of its own"
    return f"group ({row.device}, ({row.numel}, {row.rnumel or 1}))"


def _ancestors(row: Operation, known: dict[tuple[str, str], Operation]) -> set[str]:
    """All that must run before it, the nearest first, as far as there is room to tell."""
    found: set[str] = set()
    waiting = deque(row.predecessors)
    left = _MOST_LOOKS
    while waiting and left > 0 and len(found) <= _MOST_ANCESTORS + len(row.predecessors):
        name = waiting.popleft()
        if name not in found:
            found.add(name)
            before = known.get((row.graph, name))
            if before is not None:
                waiting += before.predecessors
                left -= len(before.predecessors)
    return found


def _number(name: str) -> tuple[int, str]:
    digits = re.search(r"\d+$", name)
    return (int(digits[0]) if digits else 0), name


def _listed(names: list[str]) -> str:
    return " ".join(names[:_MOST_ANCESTORS]) + (" and more" if len(names) > _MOST_ANCESTORS else "")


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
