"""lowering.txt: how each node of a graph became IR, and what became of that up to the calls of the kernels."""

from collections.abc import Iterator

from inspect_compile.analysis.coverage import coverage
from inspect_compile.analysis.ir_text import fold
from inspect_compile.analysis.lowering_steps import Step, lowering_steps
from inspect_compile.analysis.provenance import Provenance
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Frame, Graph, Lowering, Node, Operation, Realize
from inspect_compile.finish.flops_text import flops_table
from inspect_compile.finish.schedule_text import fusion_lines, operation_lines, wrapper_lines
from inspect_compile.tables.text import clean, exception_text, number_of, one_line, place_text, seconds_text

_LABEL = 8
_MOST_BUFFERS = 64
"""Of one operation in one step: an operation that many nodes name must not be told in full each time."""
_KNOWN_WAYS = {
    "placeholder": "an input of the graph",
    "constant": "a constant, or a graph that a node calls",
    "getitem": "one part of a tuple",
    "output": "the outputs of the graph",
    "failed": "its lowering raised",
}
"""Ways that need no function's name."""


def lowering_text(dump: Dump, graph: str) -> str:
    """The whole text for one outermost graph, those nested in it included."""
    told: set[str] = set()
    chain = Provenance(dump, graph)
    lines = [*_head(dump, graph), "", *flops_table(dump, graph, depth=1), ""]
    operations = {(operation.graph, operation.name): operation for operation in chain.operations}
    inside = graph
    lines += _heading("Nodes, in the order in which they were lowered")
    for step in lowering_steps(dump, graph):
        if step.row.graph != inside:
            inside = step.row.graph
            nested = inside.removeprefix(graph).strip("/")
            lines += [
                f"── in {nested}, a graph inside of this one ──" if nested else "── back in the outer graph ──",
                "",
            ]
        lines += [*_node(step, chain, operations, told), ""]
    lines += _heading("Scheduler: operations before fusion")
    lines += operation_lines(dump, graph)
    lines += _heading("Fusion")
    lines += fusion_lines(dump, graph)
    lines += _heading("The generated code: allocations, calls of kernels, frees, by line of output_code.py")
    lines += wrapper_lines(dump, graph)
    return clean("\n".join(lines) + "\n")


def _heading(title: str) -> list[str]:
    return [title, "=" * len(title), ""]


def _head(dump: Dump, graph: str) -> list[str]:
    facts = dump.graph(graph) or Graph(graph=graph, kind="unknown")
    end = dump.graph_end(graph)
    state = "not finished" if end is None else f"{end.status} in {seconds_text(end.seconds)}"
    lines = [f"{graph}   {facts.kind}   compile {facts.compile_id or 'without a Dynamo frame'}   {state}"]
    if end is not None and end.exception is not None:
        lines.append(f"  failed with  {exception_text(end.exception)}")
    for frame in dump.rows_of_compile(Frame, facts.compile_id):
        if frame.status == "compiled":
            lines.append(f"  frame   {frame.function}   {frame.file}:{frame.line}")
    nodes = [node for node in dump.rows(Node, graph) if node.graph == graph]
    stages = [
        ("Dynamo", len(dump.rows_of_compile(DynamoNode, facts.compile_id))),
        ("AOTAutograd", sum(node.stage == "aot" for node in nodes)),
        ("after all passes", sum(node.stage == "post_grad" for node in nodes)),
    ]
    lines.append("  nodes   " + "   ".join(f"{stage} {count}" for stage, count in stages if count))
    found = coverage(dump, graph)
    lost = f"; not accounted for: {', '.join(node.node for node in found.missing)}" if found.missing else ""
    lines.append(f"  {found.share:.0%} of the nodes are accounted for in the generated code{lost}")
    lines.append(
        "  A value in one line leaves out what stands in full where it was made; … stands for what was told above."
    )
    return lines


def _node(step: Step, chain: Provenance, operations: dict[tuple[str, str], Operation], told: set[str]) -> Iterator[str]:
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
    yield _field("way", _way(row))
    if row.constraint is not None:
        yield _field("layout", f"its arguments first took the layout of {row.constraint}()")
    if row.arguments:
        yield _field("in", ", ".join(row.arguments))
        for name, value in step.arguments:
            yield _field("", f"%{name} = {value}")
    for ask in step.realizes:
        yield from _ask(ask, told)
    if row.op == "output":
        return
    if row.error is not None:
        yield _field("error", one_line(row.error))
    elif row.same_as is not None:
        yield _field("out", f"%{row.same_as} itself")
    else:
        yield from _block("out", fold(row.result, told, node=row.node))
        told.add(f"%{row.node}")
    if row.buffers or row.operations:
        yield _field("made", "   ".join(_made(row, operations)))
    yield from _later(row, chain)
    yield _field("took", seconds_text(row.seconds))


def _field(label: str, text: str) -> str:
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


def _ask(ask: Realize, told: set[str]) -> Iterator[str]:
    whose = f" (the value of {ask.origin})" if ask.origin not in (None, ask.node, ask.buffer) else ""
    name = ask.buffer or "a value without a name"
    who = f"{ask.caller} through {ask.through}" if ask.through else ask.caller
    if not ask.realized:
        yield _field("asked", f"{name}{whose} is real already: {ask.reason}   [{who}]")
        return
    yield _field("real", f"{name}{whose}, a {ask.ir} until now: {ask.reason}   [{who}]")
    yield from _block("", fold(ask.text, told, node=ask.node or ""))


def _made(row: Lowering, operations: dict[tuple[str, str], Operation]) -> Iterator[str]:
    shown: set[str] = set()
    for name in row.operations:
        operation = operations.get((row.graph, name))
        buffers = operation.buffers[:_MOST_BUFFERS] if operation else ()
        shown.update(buffers)
        yield " ".join((*buffers, name, _kind(operation)))
    yield from (name for name in row.buffers if name not in shown)


def _kind(operation: Operation | None) -> str:
    if operation is None:
        return "(gone before scheduling)"
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
        yield _field("later", f"in {shown}   →   {', '.join(names)}" if listed else f"in {', '.join(names)}")
