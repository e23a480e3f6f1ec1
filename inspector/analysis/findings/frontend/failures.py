"""Compiles that failed: at which stage, at which node and line of the program, and the error itself."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.findings.costs import Costs
from inspect_compile.analysis.findings.finding import Finding, parts_at
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphEnd, Kernel, Lowering, Remark
from inspect_compile.graph import CompiledGraph, Id
from inspect_compile.graph.kernels.statements import Statements
from inspect_compile.knowledge.cost.sure import MEASURED
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.overview.compiler_errors import CompilerError, errors_in
from inspect_compile.knowledge.overview.findings import FAILED, FAILED_CALL, WORDS
from inspect_compile.knowledge.overview.nothing import advice_for, first_line

_INTERRUPTED: Final = ("KeyboardInterrupt", "SystemExit")
_MOST_PARTS: Final = 2
_FAILED_CALL: Final = "failed-call"
"""Code of the remark on an error that came out of a graph's code."""


class _Statement(NamedTuple):
    """The line of a kernel that a compiler's error is about."""

    graph: str
    """That of the kernel, nested or not."""
    kernel: str
    text: str
    nodes: tuple[str, ...]


def found(dump: Dump, graphs: list[CompiledGraph], costs: Costs) -> Iterator[Finding]:
    """One for each graph whose compile failed, and for each frame that failed without one."""
    covered = set()
    names = {graph.name: graph.fact for graph in graphs}
    ends = [end for end in dump.rows(GraphEnd) if end.status == "failed"]
    for end in ends:
        if end.graph in names:
            covered.add(names[end.graph].compile_id)
            inner = next((one for one in ends if one.nodes and one.graph.startswith(f"{end.graph}/")), end)
            yield _of_graph(dump, end if end.nodes else inner, end.exception or "")
    for frame in {row.graph: row for row in dump.rows(Frame) if row.status == "failed"}.values():
        reason = frame.reason or ""
        if frame.graph in covered or reason.startswith(_INTERRUPTED):
            continue
        yield Finding(
            kind=FAILED,
            graph=frame.graph,
            what=WORDS[FAILED].what,
            parts=parts_at(frame.failed_at or frame.caller),
            sure=MEASURED,
            why=first_line(reason),
            to_do=advice_for(reason) or "",
            names=(frame.graph,),
        )
    for row in dump.rows(Remark):
        if row.code == _FAILED_CALL and row.graph in names:
            yield Finding(
                kind=FAILED,
                graph=row.graph,
                what=WORDS[FAILED_CALL].what,
                parts=parts_at(row.place),
                sure=MEASURED,
                why=row.message,
                names=(row.graph,),
            )


def _of_graph(dump: Dump, end: GraphEnd, exception: str) -> Finding:
    statements = CompiledGraph(dump, end.graph).statements
    error = next(iter(errors_in(exception)), None)
    at = None if error is None else _statement(CompiledGraph(dump, end.graph), statements, error)
    nodes = at.nodes if at is not None and at.nodes else end.nodes or _failed_lowering(CompiledGraph(dump, end.graph))
    graph = end.graph if at is None else at.graph
    lines: dict[tuple[str, int] | None, FindingSite] = {}
    # Of a graph that a pass failed on only the nodes before the passes are known.
    known = {Id.of(node): node for node in CompiledGraph(dump, end.graph).stage("aot")}
    known |= CompiledGraph(dump, end.graph).node_of
    for name in reversed(nodes):
        node = known.get(Id(graph, name))
        where = statements.line_of(graph, name) or (None if node is None else node.where)
        operator = "" if node is None else operator_name(node.original_aten or node.target)
        lines.setdefault(None if where is None else (where.file, where.line), FindingSite(name, operator, where))
    why = first_line(exception)
    if error is not None:
        why = f"error: {error.message}"
        code = error.code if at is None else at.text.strip()
        why += f": `{code}`" + (f" in {at.kernel}" if at is not None else "") if code else ""
    if len(nodes) == 1:
        why += f" (node {nodes[0]})"
    if len(nodes) > 1:
        why += f" (one loop computes {', '.join(nodes)})"
    return Finding(
        kind=FAILED,
        graph=end.graph,
        what=f"{WORDS[FAILED].what}: {end.stage}" if end.stage else WORDS[FAILED].what,
        parts=tuple(lines.values())[:_MOST_PARTS],
        sure=MEASURED,
        why=why,
        to_do=advice_for(exception) or "",
        names=(at.kernel,) if at is not None else (end.graph,),
    )


def _failed_lowering(graph: CompiledGraph) -> tuple[str, ...]:
    return tuple(row.node for row in graph.rows(Lowering) if row.error is not None)[:1]


def _statement(graph: CompiledGraph, statements: Statements, error: CompilerError) -> _Statement | None:
    """The line of a kernel that the compiler quotes, and its nodes; the compiler's number is that of another file."""
    if not error.code:
        return None
    for kernel in graph.rows(Kernel):
        source = graph.dump.text(kernel.graph, kernel.source) if kernel.source else None
        lines = [n for n, line in enumerate((source or "").splitlines(), 1) if line.strip() == error.code]
        body = statements.body(kernel.graph, kernel.name)
        if lines and source is not None:
            rows = [] if body is None else statements.annotated(kernel, body, source)
            nodes = dict.fromkeys(node for row in rows if row.line == lines[0] for node in row.nodes)
            return _Statement(kernel.graph, kernel.name, error.code, tuple(nodes))
    return None
