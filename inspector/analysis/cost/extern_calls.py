"""Each call of an extern kernel: its arguments, what it computes, and why no kernel is generated for it."""

from collections.abc import Iterator

import msgspec

from inspect_compile.analysis.cost.kernel_work import works
from inspect_compile.dump import paths
from inspect_compile.facts import Location, Lowering, Remark
from inspect_compile.graph import CompiledGraph, Id, shared_fields

_LONGEST_CALL = 40
"""Maximum number of lines of output_code.py that a call takes."""


class ExternCall(msgspec.Struct, frozen=True, tag_field="fact", tag="extern_call"):
    """One call of an extern kernel. `show kernel NAME --json` prints these."""

    graph: str
    kernel: str
    line: int | None
    """Line number in output_code.py."""
    operations: tuple[str, ...]
    nodes: tuple[str, ...]
    """FX nodes, in graph order."""
    text: str
    """The generated call with its arguments; empty if the code is not in the dump."""
    lines: tuple[Location, ...]
    """Source lines, each once."""
    flops: int
    uncounted: str
    """Why nothing is counted; empty if it is counted."""
    read: int | None
    written: int | None
    """Bytes, each element once; None if not known."""
    is_read_unsure: bool
    is_written_unsure: bool
    """True if values decide how much of that is written, so that it is an upper bound."""
    why: str
    """Why it is extern, in words; empty if not known."""


def extern_calls(graph: CompiledGraph) -> list[ExternCall]:
    """The extern calls of an outermost graph, nested graphs included, in the order of the generated code."""
    return list(_calls(graph))


def _calls(graph: CompiledGraph) -> Iterator[ExternCall]:
    moved = graph.traffic
    lowered = {Id(row.graph, row.node): row for row in graph.rows(Lowering)}
    remarks = (row for row in graph.dump.rows(Remark) if row.code == "fallback")
    messages = {Id(row.graph, name): row.message for row in remarks for name in row.ids}
    texts = (graph.text(f"{paths.OUTPUT_CODE}.{ending}") for ending in ("py", "cpp"))
    code = next((text for text in texts if text is not None), "").splitlines()
    for row in works(graph):
        call, work = row.launch, row.work
        if call.kernel.kind != "extern":
            continue
        bytes_ = moved.of(call)
        yield ExternCall(
            **shared_fields(call, ExternCall, "kernel"),
            kernel=call.kernel.name,
            text=_text(code, call.line),
            flops=work.heavy + work.scalar,
            uncounted=work.uncounted,
            read=bytes_.read if bytes_.is_known else None,
            written=bytes_.written if bytes_.is_known else None,
            is_read_unsure=bytes_.is_read_unsure,
            is_written_unsure=bytes_.is_written_unsure,
            why=next((why for name in call.nodes if (why := _why(call.graph, name, messages, lowered))), ""),
        )


def _why(graph: str, node: str, messages: dict[Id, str], lowered: dict[Id, Lowering]) -> str:
    """What torch did with the node: it fell back, or its lowering called a library."""
    if (message := messages.get(Id(graph, node))) is not None:
        return message.partition(": ")[2] or message
    row = lowered.get(Id(graph, node))
    if row is None or not row.via or row.way not in ("lowering", "fallback"):
        return ""
    function, _, place = row.via.partition(" ")
    return f"its lowering {function} made a call of it{f' ({place})' * bool(place)}"


def _text(code: list[str], line: int | None) -> str:
    """The call at `line`, its lines joined."""
    if line is None or not 0 < line <= len(code):
        return ""
    found, depth = "", 0
    for text in code[line - 1 : line - 1 + _LONGEST_CALL]:
        found = f"{found} {text.strip()}".strip()
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            break
    return found
