"""The contents of inductor_provenance_tracking_node_mappings.json, in torch's format (torch/_inductor/debug.py).

Made from recorded facts: torch writes it only with a provenance level above 0, which changes the generated code.
docs/dump.md says where the two differ.
"""

from typing import Any, Final

from inspect_compile.facts import DynamoNode
from inspect_compile.graph import CompiledGraph

VERSION: Final = 2.0
"""Version of torch's format."""


def node_mappings(graph: CompiledGraph) -> dict[str, Any]:
    """`preToPost`, `postToPre`: Dynamo's nodes and post-grad nodes; `cppCodeToPost`, `postToCppCode`: calls of kernels.

    A call is named `kernel:n`, where n counts calls from 1.
    """
    found = graph.dump.graph(graph.name)
    dynamo = graph.dump.rows_of_compile(DynamoNode, found.compile_id if found is not None else None)
    before = {node.name for node in dynamo if node.op != "output"}
    pre_to_post: dict[str, list[str]] = {}
    post_to_pre: dict[str, list[str]] = {}
    for node in graph.nodes:
        for origin in node.origins if node.op not in ("placeholder", "get_attr", "output") else ():
            if origin in before:
                pre_to_post.setdefault(origin, []).append(node.name)
                post_to_pre.setdefault(node.name, []).append(origin)
    code_to_post: dict[str, list[str]] = {}
    post_to_code: dict[str, list[str]] = {}
    for number, launch in enumerate(graph.launches, 1):
        call = f"{launch.kernel.name}:{number}"
        code_to_post[call] = list(launch.nodes)
        for name in launch.nodes:
            post_to_code.setdefault(name, []).append(call)
    return {
        "preToPost": pre_to_post,
        "postToPre": post_to_pre,
        "cppCodeToPost": code_to_post,
        "postToCppCode": post_to_code,
        "version": VERSION,
    }
