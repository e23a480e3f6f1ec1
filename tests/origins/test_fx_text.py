"""The nodes that are read from a printed graph are those that were recorded of it."""

from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Location, Node, Tensor
from inspect_compile.origins.fx_text import nodes_of
from tests.conftest import DumpOf

_TOLD = ("graph", "index", "name", "op", "target", "inputs", "arguments")

_DYNAMO = """
class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[8, s0][s0, 1]cuda:0", L_n_: "Sym(s0)"):
        l_x_ = L_x_
        l_n_ = L_n_

        # File: net.py:4 in forward, code: x = self.up(x) * 2
        y: "f32[8, 4][4, 1]cuda:0" = torch._C._nn.linear(l_x_, self_w, None);  self_w = None
        x = y * 2;  y = None
        x += 1;  iadd: "f32[8, 4]" = x;  x = None
        # No stacktrace found for following nodes
        iadd[0] = 3;  setitem = iadd;  setitem = None
        sum_1: "f32[]" = iadd.sum(dim = (0, 1), keepdim = False)
        getitem = iadd[(slice(None, 2, None), None)];  iadd = None
        size = l_x_.shape
        linear = self.layers.up(l_x_)
        scale = self.scale
        to = torch.ops.prims.device_put.default(linear, device(type='cuda', index=1));  linear = None
        return (sum_1, [getitem])
"""

_JOINT = """class inner_f(torch.nn.Module):
    def forward(
        self,
        primals,
        tangents,
    ):
        primals_1: "f32[4][1]cpu"  # PlainAOTInput(idx=0)
        tangents_1: "bf16[4][1]cpu"  # TangentAOTInput(output=PlainAOTOutput(idx=0))
        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
        mul: "f32[4][1]cpu" = torch.ops.aten.mul.Tensor(primals_1, tangents_1);  primals_1 = tangents_1 = None
        return pytree.tree_unflatten([
            mul,  # PlainAOTOutput(idx=0)
            None,  # None
        ], self._out_spec)
"""


def told(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {name: getattr(node, name) for name in _TOLD}
    return found | {"users": sorted(node.users)}


@pytest.mark.parametrize("sample", ["softmax_mlp", "training_step", "conditional"])
@pytest.mark.parametrize(("stage", "file"), [("aot", paths.FX_READABLE), ("post_grad", paths.FX_TRANSFORMED)])
def test_each_node_is_the_one_that_was_recorded(sample: str, stage: str, file: str, dump_of: DumpOf) -> None:
    dump = Dump(dump_of(sample).dump)
    for graph in dump.outermost():
        text = dump.text(graph.graph, file)
        assert text
        # torch compiles nested graphs in the order of their names, or as they stand in the text.
        read = sorted(nodes_of(graph.graph, stage, text), key=lambda node: node.graph)
        recorded = sorted(
            (node for node in dump.rows(Node, graph.graph) if node.stage == stage), key=lambda node: node.graph
        )
        assert [told(node) for node in read] == [told(node) for node in recorded]
        for one, other in zip(read, recorded, strict=True):
            if one.values and one.op != "output":
                tensors = [(value.dtype, value.size, value.bytes) for value in other.values]
                assert [(value.dtype, value.size, value.bytes) for value in one.values] == tensors
            if one.where is not None:
                assert other.where is not None
                assert (one.where.file, one.where.line, one.where.code) == (
                    other.where.file, other.where.line, other.where.code,
                )  # fmt: skip


def test_what_dynamo_prints() -> None:
    nodes = {node.name: node for node in nodes_of("0/0", "dynamo", _DYNAMO)}
    assert [(node.name, node.op, node.target, node.arguments) for node in nodes.values()] == [
        ("l_x_", "placeholder", "L_x_", ""),
        ("l_n_", "placeholder", "L_n_", ""),
        ("y", "call_function", "torch._C._nn.linear", "%l_x_, self_w, None"),
        ("x", "call_function", "operator.mul", "%y, 2"),
        ("iadd", "call_function", "operator.iadd", "%x, 1"),
        ("setitem", "call_function", "operator.setitem", "%iadd, 0, 3"),
        ("sum_1", "call_method", "sum", "%iadd, dim=(0, 1), keepdim=False"),
        ("getitem", "call_function", "operator.getitem", "%iadd, (None:2:None, None)"),
        ("size", "call_function", "builtins.getattr", "%l_x_, 'shape'"),
        ("linear", "call_module", "layers.up", "%l_x_"),
        ("scale", "get_attr", "scale", ""),
        ("to", "call_function", "prims.device_put.default", "%linear, cuda:1"),
        ("output", "output", "output", "(%sum_1, [%getitem])"),
    ]
    assert nodes["l_x_"].values == (Tensor("float32", (8, "s0"), ("s0", 1), "cuda:0"),)
    assert nodes["l_n_"].values == ()
    assert nodes["y"].values == (Tensor("float32", (8, 4), (4, 1), "cuda:0", 128),)
    assert nodes["output"].values == (Tensor("float32", (), (), "", 4),)
    assert nodes["x"].where == Location("net.py", 4, "forward", "x = self.up(x) * 2")
    assert nodes["sum_1"].where is None
    assert nodes["l_x_"].users == ("y", "size", "linear")


def test_the_inputs_of_a_joint_graph_are_the_leaves_of_what_it_is_called_with() -> None:
    nodes = nodes_of("0/0", "joint", _JOINT)
    assert [(node.name, node.op, node.inputs) for node in nodes] == [
        ("primals_1", "placeholder", ()),
        ("tangents_1", "placeholder", ()),
        ("mul", "call_function", ("primals_1", "tangents_1")),
        ("output", "output", ("mul",)),
    ]
    assert nodes[1].values == (Tensor("bfloat16", (4,), (1,), "cpu", 8),)
    assert nodes[-1].arguments == "[%mul, None]"


def test_a_torn_text_has_the_nodes_before_the_tear() -> None:
    whole = nodes_of("0/0", "dynamo", _DYNAMO)
    for end in range(0, len(_DYNAMO), 7):
        read = nodes_of("0/0", "dynamo", _DYNAMO[:end])[:-1]  # the torn line itself may look whole
        assert [(node.op, node.target) for node in read] == [(node.op, node.target) for node in whole][: len(read)]


@pytest.mark.parametrize(
    "line",
    ["x = " + "[" * 500_000, "x = " + "-" * 500_000 + "1", "x = " + "1+" * 300_000 + "1", "x = a" + ".b" * 300_000,
     "return " + "(" * 500_000 + "1", "def forward(" + "a, " * 300_000 + "):", "x: 'f32[" + "9" * 5000 + "]' = a()",
     "# File: " + "a:" * 300_000, "x, = fx_pytree.tree_flatten_spec([a], b)\n" * 50_000],
    ids=range(9),
)  # fmt: skip
def test_no_line_stops_what_comes_after_it(line: str) -> None:
    text = f"class G(torch.nn.Module):\n    def forward(self, a):\n        {line}\n        last = torch.relu(a)\n"
    names = [node.name for node in nodes_of("g", "aot", text)]
    assert names[-1] == "last"


def test_what_it_reads_is_not_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')"
    body = f"        x = {write}\n        return ({write},)\n"
    text = f"class G(torch.nn.Module):\n    def forward(self, a={write}):\n{body}"
    assert [node.op for node in nodes_of("g", "aot", text)] == ["placeholder", "call_method", "output"]
    assert not made.exists()
