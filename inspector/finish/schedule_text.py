"""The later sections of lowering.txt: loop bodies, the scheduler's operations, fusion, and the lines of the wrapper."""

from collections.abc import Iterator

from inspect_compile.analysis.cost.schedule_rows import fused_rows
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.dump import paths
from inspect_compile.facts import WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables import wrapper as tables
from inspect_compile.tables.columns import text_lines
from inspect_compile.tables.cost.cost_text import exact_text
from inspect_compile.tables.fusion.fusion import found_text
from inspect_compile.tables.lowering import step_text
from inspect_compile.tables.schedule import GROUPS
from inspect_compile.tables.text import lines_text

_MOST_CODE = 100


def body_lines(operations: Operations) -> Iterator[str]:
    """The loops of each operation: what it computes for one element, and at which index."""
    bodies = [(row, body) for row in operations.rows if (body := operations.body(row))]
    if not bodies:
        yield "No operation has loops."
    for row, body in bodies:
        yield f"── {row.name}: {' '.join(row.nodes) or 'no node'} ──"
        yield from (f"  {line}" for line in body)
        yield ""


def operation_lines(operations: Operations) -> Iterator[str]:
    """Every scheduler node before fusion, with what it reads, writes, waits for and is used by."""
    if not operations.rows:
        yield "No operation was seen."
    for row in operations.rows:
        yield from step_text.operation_lines(operations, row)
        yield ""


def fusion_lines(graph: CompiledGraph) -> Iterator[str]:
    """The fusion in short; fusion.txt has every attempt."""
    found = fusion(graph)
    if found.verdicts:
        yield f"{found_text(found)}. Every attempt: {paths.FUSION}"
        if found.refusals:
            yield f"refused for  {', '.join(f'{row.code} {row.count:,}' for row in found.refusals)}"
    else:
        yield "No pair was tried: no two operations that can be fused share a buffer."
    for attempt in found.fused:
        shared = f"torch's score {attempt.shared_bytes or 0:,} B"
        yield f"  round {attempt.round}   {attempt.a} + {attempt.b}   →   {attempt.into}   {shared}"
    yield ""
    yield "After fusion, in the order of the generated code:"
    yield from text_lines(GROUPS, fused_rows(graph), indent="  ")


def wrapper_lines(graph: CompiledGraph) -> Iterator[str]:
    """The wrapper line by line, nested graphs first as in the generated code; calls as in the code."""
    texts = (graph.text(f"{paths.OUTPUT_CODE}{suffix}") for suffix in (".py", ".cpp"))
    code = next(filter(None, texts), "").split("\n")
    rows = tables.wrapper_lines(graph)
    moved = graph.traffic
    calls = {(launch.graph, launch.line): launch for launch in moved.launches}
    live = {(of, step.index): step.live for of, held in graph.memories.items() for step in held.steps}
    inside = None
    for row in rows:
        if row.graph != inside:
            inside = row.graph
            if inside != graph.name or row is not rows[0]:
                yield f"in {inside.removeprefix(graph.name).strip('/') or 'the graph itself'}"
        held = live.get((row.graph, row.index)) if row.what in ("allocate", "free", "extern") else None
        text = f"  {row.line or '':>6}  {row.what:<15}{_what(row, code)}"
        if held is None:
            yield text
        else:
            yield f"{text}   {held:,} B live" if held >= 0 else f"{text}   {-held:,} B less than at the start"
        launch = next((calls[row.graph, line] for line in _span(row) if (row.graph, line) in calls), None)
        if launch is not None and row.what in ("launch", "extern"):
            text = f"runs {' '.join(launch.groups) or '?'}   {exact_text(moved.of(launch))}"
            yield f"{'':<25}{text}   {lines_text(launch.lines)}".rstrip()
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
        return f"{row.becomes} reuses the memory of {row.buffer}"
    if row.what == "free" and row.is_reused:
        return f"{row.buffer} not freed: its memory is used again"
    if row.what in ("launch", "extern", "multi_output", "text", "other") and row.line is not None:
        text = " ".join(code[line - 1].strip() for line in _span(row) if 0 < line <= len(code))
        return text[:400] or row.text
    return f"{row.buffer or row.text or row.torch_type}{size}"
