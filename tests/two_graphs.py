"""Two compiles with the same names: nodes, operations, buffers and a kernel that both graphs have."""

from typing import Any

from inspect_compile.facts import Fact
from tests.handmade import GRAPH, at, attempt, graph, kernel, lowered, node, operation

OTHER = "model__1_forward_5.2"
KERNEL = "cpp_fused_relu_0"
HASH = "cabcdefghijklmnop"


def facts_of(name: str, compile_id: str, at_line: int) -> list[Fact]:
    """relu and add, each an operation, in one kernel."""
    whole: dict[str, Any] = {"graph": name}
    return [
        graph(name, compile_id=compile_id),
        node("relu", "aten.relu.default", where=at(at_line), **whole),
        node("add", "aten.add.Tensor", where=at(at_line + 1), **whole),
        lowered("relu", "aten.relu.default", operations=("op0",), **whole),
        lowered("add", "aten.add.Tensor", operations=("op1",), **whole),
        operation("op0", reads={}, writes={"buf0": 8}, phase="pre_fusion", nodes=("relu",), **whole),
        operation("op1", reads={"buf0": 8}, writes={"buf1": 8}, phase="pre_fusion", nodes=("add",), **whole),
        operation("op0_op1", reads={}, writes={"buf0": 8, "buf1": 8}, nodes=("relu", "add"), **whole),
        kernel(KERNEL, "op0_op1", path=f"/tmp/{HASH}.py", nodes=("relu", "add"), **whole),
        attempt("op0", "op1", "fused", into="op0_op1", **whole),
    ]


FACTS = (*facts_of(GRAPH, "0/0", 12), *facts_of(OTHER, "1/0", 20))
