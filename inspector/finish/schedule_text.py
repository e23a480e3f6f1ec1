"""The later sections of lowering.txt: the scheduler's operations, fusion, and the lines of the wrapper."""

import re
from collections import deque
from collections.abc import Iterator

from inspect_compile.analysis.fusion import fusion
from inspect_compile.analysis.launches import launches
from inspect_compile.analysis.memory import memories
from inspect_compile.analysis.traffic import traffic
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Access, Lowering, Operation, WrapperLine
from inspect_compile.tables.text import columns, lines_text, number_of

_CAN_INPLACE = re.compile(r"NodeUser\(node=\w*\(?(?:name=')?(\w+)'?\)?, can_inplace=(True|False)")
_MOST_ANCESTORS = 24
_MOST_LOOKS = 20_000
"""Operations that are looked at for the ancestors of one."""
_MOST_CODE = 100
_SILENT = frozenset({"none", "assert", "comment", "define"})
"""Wrapper lines that neither hold memory nor compute."""


def operation_lines(dump: Dump, graph: str) -> Iterator[str]:
    """Every scheduler node before fusion, with what it reads, writes, waits for and is used by."""
    rows = dump.rows(Operation, graph)
    before = [row for row in rows if row.phase == "pre_fusion"]
    after = {(row.graph, member): row for row in rows if row.phase == "post_fusion" for member in row.members}
    makers = {(row.graph, name): row for row in dump.rows(Lowering, graph) for name in row.operations}
    texts = _ir_texts(dump.text(graph, paths.IR_PRE_FUSION) or "")
    known = {(row.graph, row.name): row for row in before}
    writers = {(row.graph, buffer): row.name for row in before for buffer in row.buffers}
    if not before:
        yield "No operation was seen."
        yield ""
    for row in before:
        maker = makers.get((row.graph, row.name))
        text = texts.get(row.name, "") if row.graph == graph else ""
        yield f"{row.name}   {row.kind}   {row.node_type}   {_ir(row)}   from {' '.join(row.nodes) or 'no node'}"
        yield _field("order", f"{row.order}   {_group(row)}")
        if maker is not None and maker.flops and row.kind in ("extern", "template"):
            yield _field("FLOP", f"{maker.flops:,} ({maker.flops_kind}), for {maker.node}")
        yield _field("waits", f"for {' '.join(row.predecessors)}" if row.predecessors else "for nothing")
        if ancestors := sorted(_ancestors(row, known) - set(row.predecessors), key=_number):
            yield _field("", f"behind these: {_listed(ancestors)}")
        written = {access.buffer: writers.get((row.graph, access.buffer), "") for access in row.reads}
        before_it = set(row.predecessors)
        waited = {buffer: name for buffer, name in written.items() if name in before_it}
        yield from _accesses("reads", row.reads, waited)
        yield from _accesses("writes", row.writes, {})
        yield _field("users", _users(row, text))
        final = after.get((row.graph, row.name))
        if final is not None and final.last_usage:
            whose = "" if final.name == row.name else f"   (as a part of {final.name})"
            yield _field("last", f"use of {' '.join(final.last_usage)}{whose}")
        body = text.find("class ")
        if body >= 0:
            for number, line in enumerate(text[body:].rstrip().split("\n")):
                yield f"  {'body' if number == 0 else '':<8}{line}"
        yield ""


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
        yield _field(label, f"{access.buffer}{index}{size}{waits}")
        label = ""


def _users(row: Operation, text: str) -> str:
    inplace = {match[1] for match in _CAN_INPLACE.finditer(text) if match[2] == "True"}
    return "   ".join(f"{name} (may write in place)" if name in inplace else name for name in row.users) or "none"


def _field(label: str, text: str) -> str:
    return f"  {label:<8}{text}"


def _ir_texts(text: str) -> dict[str, str]:
    """torch's own text of each scheduler node, by name."""
    return {name: part for part in text.split("\n\n\n") if (name := part.lstrip("\n").partition(":")[0])}


def fusion_lines(dump: Dump, graph: str) -> Iterator[str]:
    """What came of it, in short; fusion.txt has every attempt."""
    found = fusion(dump, graph)
    if found.verdicts:
        told = ", ".join(f"{count:,} {verdict}" for verdict, count in found.verdicts.items())
        yield f"{number_of(found.rounds, 'round')}: {told}. Every attempt: {paths.FUSION}"
        if found.codes:
            yield f"refused for  {', '.join(f'{code} {count:,}' for code, count in found.codes.items())}"
    else:
        yield "No pair was tried: no two operations that can be fused share a buffer."
    for attempt in found.fused:
        shared = f"shared {attempt.shared_bytes or 0:,} B"
        yield f"  round {attempt.round}   {attempt.a} + {attempt.b}   →   {attempt.into}   {shared}"
    yield ""
    yield "After fusion, in the order of the generated code:"
    yield from columns(
        [(f"  {group.name}", group.kind, f"→ {group.kernel}" if group.kernel else "") for group in found.groups]
    )
    yield ""


def wrapper_lines(dump: Dump, graph: str) -> Iterator[str]:
    """The wrapper line by line, nested graphs first as in the generated code; calls in the words of the code."""
    code = (dump.text(graph, f"{paths.OUTPUT_CODE}.py") or dump.text(graph, f"{paths.OUTPUT_CODE}.cpp") or "").split(
        "\n"
    )
    rows = [row for row in dump.rows(WrapperLine, graph) if row.what not in _SILENT]
    moved, calls = traffic(dump, graph), {(launch.graph, launch.line): launch for launch in launches(dump, graph)}
    live = {(of, step.index): step.live for of, held in memories(dump, graph).items() for step in held.steps}
    inside = None
    for row in rows:
        if row.graph != inside:
            inside = row.graph
            if inside != graph or row is not rows[0]:
                yield f"in {inside.removeprefix(graph).strip('/') or 'the graph itself'}"
        held = live.get((row.graph, row.index)) if row.what in ("allocate", "free", "extern") else None
        text = f"  {row.line or '':>6}  {row.what:<15}{_what(row, code)}"
        yield text if held is None else f"{text}   {held:,} B live"
        launch = next((calls[row.graph, line] for line in _span(row) if (row.graph, line) in calls), None)
        if launch is not None and row.what in ("launch", "extern"):
            size, groups = moved.of(launch), " ".join(launch.groups) or "?"
            text = f"runs {groups}   reads {size.read:,} B, writes {size.written:,} B"
            yield f"{'':<25}{text}   {lines_text(launch.kernel.lines)}".rstrip()
    returned = next(
        (line.strip() for line in reversed(code) if line.strip().startswith("return (") and "buf" in line), None
    )
    if returned is not None:
        yield f"          {'return':<15}{returned.removeprefix('return ')}"


def _span(row: WrapperLine) -> range:
    return range(row.line, (row.end or row.line) + 1)[:_MOST_CODE] if row.line is not None else range(0)


def _what(row: WrapperLine, code: list[str]) -> str:
    size = f"   {row.bytes:,} B" if row.bytes is not None else ""
    if row.what in ("reuse", "reinterpret"):
        return f"{row.becomes} in the place of {row.buffer}"
    if row.what == "free" and row.is_reused:
        return f"{row.buffer} not freed: its memory is used again"
    if row.what in ("launch", "extern", "multi_output", "text", "other") and row.line is not None:
        text = " ".join(code[line - 1].strip() for line in _span(row) if 0 < line <= len(code))
        return text[:400] or row.text
    return f"{row.buffer or row.text or row.torch_type}{size}"
