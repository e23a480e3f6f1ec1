"""What is known of a graph that others recorded."""

import msgspec

from inspect_compile.facts import Kernel, Node, WrapperLine
from inspect_compile.graph import CompiledGraph


class LoggedGraph(msgspec.Struct, frozen=True, tag_field="fact", tag="logged_graph"):
    """A graph of a log: `show graphs --json` where the dump was made of one. What the log lacks is null."""

    graph: str
    kind: str
    compile_id: str | None
    device: str
    inputs: int | None
    nodes: int | None
    """Number of post-grad nodes that compute something; of AOTAutograd's graph where the log has no other."""
    kernels: int | None
    launches: int | None
    """Number of calls of kernels and of library functions in the generated code."""


def logged(graph: CompiledGraph) -> LoggedGraph:
    """The figures of a graph that others recorded."""
    nodes = [node for node in graph.rows(Node) if node.op.startswith("call")]
    stage = "post_grad" if any(node.stage == "post_grad" for node in nodes) else "aot"
    count = sum(node.stage == stage for node in nodes)
    kernels, lines = {row.name for row in graph.rows(Kernel)}, graph.rows(WrapperLine)
    return LoggedGraph(
        graph=graph.name,
        kind=graph.fact.kind,
        compile_id=graph.fact.compile_id,
        device=graph.fact.device,
        inputs=graph.fact.inputs if nodes or lines else None,
        nodes=count or None,
        kernels=len(kernels) if kernels or lines else None,
        launches=sum(row.kernel is not None for row in lines) if lines else None,
    )
