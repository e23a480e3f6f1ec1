"""lowering.txt: how each node of a graph was lowered, and what became of it down to the kernel calls."""

from collections.abc import Callable, Iterator

from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.analysis.lowering.steps import Step, lowering_steps
from inspect_compile.facts import DynamoNode, Frame, Graph, JointNode, Node
from inspect_compile.finish.path_text import bench_lines, call_lines, edge_lines, returned_lines
from inspect_compile.finish.schedule_text import body_lines, fusion_lines, operation_lines, wrapper_lines
from inspect_compile.finish.table_texts import flops_table
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables.lowering.step_text import field, step_lines, symbol_text
from inspect_compile.tables.text import clean, exception_text, seconds_text


def lowering_text(graph: CompiledGraph) -> str:
    """The whole text for one outermost graph, those nested in it included."""
    printed: set[str] = set()
    chain = graph.provenance
    known = graph.operation_of
    virtual, steps, operations = inlined(graph), list(lowering_steps(graph)), Operations(graph)
    lines = [*_head(graph), ""]
    for title, section in (
        (
            "Who called whom: backend (compiler_fn), compile_fx, AOTAutograd (auto_autograd), compile_fx_inner",
            call_lines(graph),
        ),
        ("FLOP table: Module, FLOP, % Total", flops_table(graph, depth=1)),
        (
            "GraphLowering.run: Graph.run_node of each node, in the order in which they were lowered",
            _run_lines(steps, graph.name, lambda step: step_lines(step, chain, known, printed, virtual)),
        ),
        ("Graph.lowering: Output and Input, Pre-Realize and Post-Realize", edge_lines(steps, graph.name, printed)),
        ("Init Scheduler: LoopBodyBlock, the body of each operation's loops", body_lines(operations)),
        ("New nodes after processing: the scheduler's operations before fusion", operation_lines(operations)),
        ("Finished scheduler init: fusion", fusion_lines(graph)),
        (
            "Scheduler.codegen: extern calls, kernels, allocations and frees, by line of output_code.py",
            wrapper_lines(graph),
        ),
        (
            "graph.compile_to_module, compile_fx_inner.result, compile_fx.fw_compiler: what was returned",
            returned_lines(graph),
        ),
        ("inductor.triton_heuristics, bench: what was timed", bench_lines(graph)),
    ):
        lines += [title, "=" * len(title), "", *section]
        lines += [] if lines[-1] == "" else [""]
    return clean("\n".join(lines).rstrip("\n") + "\n")


def _run_lines(steps: list[Step], graph: str, step_lines: Callable[[Step], Iterator[str]]) -> Iterator[str]:
    inside = graph
    for step in steps:
        if step.row.graph != inside:
            inside = step.row.graph
            nested = inside.removeprefix(graph).strip("/")
            yield f"── in {nested}, a graph inside of this one ──" if nested else "── back in the outer graph ──"
            yield ""
        yield from step_lines(step)
        yield ""


def _head(graph: CompiledGraph) -> list[str]:
    facts = graph.dump.graph(graph.name) or Graph(graph=graph.name, kind="unknown")
    end = graph.dump.graph_end(graph.name)
    state = "not finished" if end is None else f"{end.status} in {seconds_text(end.seconds)}"
    lines = [f"{graph.name}   {facts.kind}   compile {facts.compile_id or 'without a Dynamo frame'}   {state}"]
    if end is not None and end.exception is not None:
        lines.append(f"  failed with  {exception_text(end.exception)}")
    for frame in graph.dump.rows_of_compile(Frame, facts.compile_id):
        if frame.status == "compiled":
            lines.append(f"  frame   {frame.function}   {frame.file}:{frame.line}")
    nodes = [node for node in graph.rows(Node) if node.graph == graph.name]
    stages = [
        ("Dynamo", len(graph.dump.rows_of_compile(DynamoNode, facts.compile_id))),
        ("joint", len(graph.dump.rows_of_compile(JointNode, facts.compile_id))),
        ("AOTAutograd", sum(node.stage == "aot" for node in nodes)),
        ("after all passes", sum(node.stage == "post_grad" for node in nodes)),
    ]
    lines += [field("symbol", symbol_text(row)) for row in graph.symbols]
    lines.append("  nodes   " + "   ".join(f"{stage} {count}" for stage, count in stages if count))
    found = coverage(graph)
    lost = f"; not accounted for: {', '.join(node.node for node in found.missing)}" if found.missing else ""
    lines.append(f"  {found.share:.0%} of the nodes are accounted for in the generated code{lost}")
    if found.unknown:
        count = len(found.unknown)
        lines.append(f"  lines of the generated code of no known kind: {count}, from {found.unknown[0].line} on")
    lines.append(
        "  A value in one line omits what is written in full where it was made; … repeats what was said above."
    )
    return lines
