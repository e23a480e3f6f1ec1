"""The text of a graph becomes the graph that it was printed from, and what can't is told in one line."""

import ast
import math
import operator
from typing import Any

import pytest
import torch
from torch.fx import Graph, GraphModule

from inspect_compile.lowering.intervention.replay.graphs import graph_module
from inspect_compile.lowering.intervention.replay.inputs import Symbols
from inspect_compile.lowering.intervention.replay.knobs import checked
from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, runnable

aten = torch.ops.aten
NAMES = {"torch": torch, "device": torch.device, "inf": math.inf, "math": math}

RUNNABLE = """
s77 = 12

import os
os.environ['TORCHINDUCTOR_CACHE_DIR'] = '/home/zebulon/cache'
os.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'
os.environ['TORCH_TRACE'] = '/home/zebulon/trace'
os.environ.pop('TORCHDYNAMO_REPRO_AFTER', None)

import torch
torch._inductor.config.triton.max_tiles = 1

torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.reset_table()
@triton.jit
def blend_0(a):
    pass
torch._higher_order_ops.triton_kernel_wrap.kernel_side_table.add_kernel(blend_0)

class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.true_graph_0 = <lambda>()

    def forward(self, arg0_1):
        true_graph_0 = self.true_graph_0
        return (true_graph_0,)

def load_args(reader):
    reader.symint(12, expr='s77')  # arg0_1
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    raise SystemExit
"""
READABLE = """class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[8, 8]"):
        true_graph_0 = self.true_graph_0
        return (true_graph_0,)

    class true_graph_0(torch.nn.Module):
        def forward(self, arg0_1: "f32[8, 8]"):
            # File: net.py:9 in shrink, code: return torch.tanh(t)
            tanh: "f32[8, 8]" = torch.ops.aten.tanh.default(arg0_1);  arg0_1 = None
            return (tanh,)
"""


def _printed(graph: Graph, owner: torch.nn.Module) -> Body:
    (function,) = ast.parse(GraphModule(owner, graph).code.strip()).body
    assert isinstance(function, ast.FunctionDef)
    return Body(function, {})


def _described(graph: Graph) -> list[tuple[Any, ...]]:
    return [(node.op, node.target, str(node.args), str(node.kwargs), node.name) for node in graph.nodes]


def test_a_graph_comes_back_as_it_was() -> None:
    owner = torch.nn.Module()
    owner.register_buffer("_tensor_constant0", torch.ones(2))
    graph = Graph()
    size, x = graph.placeholder("arg0_1"), graph.placeholder("arg1_1")
    kept = graph.get_attr("_tensor_constant0")
    twice = graph.call_function(operator.mul, (size, 2))
    less = graph.call_function(operator.neg, (graph.call_function(operator.floordiv, (twice, 3)),))
    whether = graph.call_function(operator.ge, (less, 0))
    full = graph.call_function(
        aten.full.default,
        ([size, 4], -math.inf),
        {"dtype": torch.bfloat16, "layout": torch.strided, "device": torch.device("cpu"), "pin_memory": False},
    )
    both = graph.call_function(aten.cat.default, ([x, full, kept], -1))
    parts = graph.call_function(aten.split_with_sizes.default, (both, [twice, 1], 1))
    first = graph.call_function(operator.getitem, (parts, 0))
    index = graph.call_function(aten.index.Tensor, (first, [None, kept]))
    wide = graph.call_function(torch.sym_max, (twice, less))
    named = graph.create_node("call_function", aten.view.dtype, (index, torch.uint8), name="strange_name_7")
    graph.output((named, None, whether, wide, (x, size)))

    back = graph_module(_printed(graph, owner), owner, NAMES)

    assert _described(back.graph) == _described(graph)
    assert torch.equal(dict(back.named_buffers())["_tensor_constant0"], torch.ones(2))


def test_the_file_is_taken_apart() -> None:
    found = runnable(RUNNABLE, READABLE)

    assert found.environment == {"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}
    assert found.hints == {"s77": 12}
    assert [ast.unparse(setting) for setting in found.settings] == ["torch._inductor.config.triton.max_tiles = 1"]
    program = ast.unparse(found.program)
    assert "environ" not in program
    assert "mod = " not in program
    assert "__main__" not in program
    assert "add_kernel(blend)" in program
    assert list(found.body.children) == ["true_graph_0"]
    module = graph_module(found.body, torch.nn.Module(), NAMES)
    (child,) = (child for child in module.children() if isinstance(child, GraphModule))
    assert [node.name for node in child.graph.nodes] == ["arg0_1", "tanh", "output"]


@pytest.mark.parametrize(
    ("text", "readable", "told"),
    [
        ("Repro is not generated due to …", "", "a graph with a BackwardState among its inputs"),
        ("ERROR: Repro will not work as intended, no Heuristics\n", "", "not write all of the graph: no Heuristics"),
        ("import torch\nclass Repro(", "", "fx_graph_runnable.py is not Python at line 2"),
        ("import torch\n", "", "fx_graph_runnable.py holds no graph"),
        (RUNNABLE, "", "does not have the subgraph true_graph_0"),
    ],
)
def test_a_file_that_is_no_use_says_why(text: str, readable: str, told: str) -> None:
    with pytest.raises(RefusedError, match=told):
        runnable(text, readable)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("a = torch.ops.mine.relu.default(x)", "calls torch.ops.mine.relu.default, which is not there without the pro"),
        ("a = self._tensor_constant0", "the graph reads _tensor_constant0, whose value is not in the dump"),
        ("a = torch.ops.aten.relu.default(nobody)", "the graph names nobody, which is not there"),
        ("a = [y for y in x]", "line 2 of the graph is not known: a = "),
        ("import os", "line 2 of the graph is not known: import os"),
    ],
)
def test_a_line_that_is_not_known_is_named(line: str, told: str) -> None:
    (function,) = ast.parse(f"def forward(self, x):\n    {line}\n    return (a,)").body
    assert isinstance(function, ast.FunctionDef)

    with pytest.raises(RefusedError) as refused:
        graph_module(Body(function, {}), torch.nn.Module(), NAMES)

    assert told in str(refused.value)


def test_symbols_keep_their_names() -> None:
    symbols = Symbols({"s77": 12, "s3": 1}, ["u0", "torch"])

    assert {name: str(value) for name, value in symbols.values.items()} == {"s77": "s77", "s3": "s3", "u0": "u0"}
    assert symbols.values["s77"].node.hint == 12
    assert str(symbols.value("2*s77", None)) == "2*s77"
    assert str(symbols.value("s5", 7)) == "s5"
    with pytest.raises(RefusedError, match="the size zf9 of an input can't be recreated"):
        symbols.value("zf9", None)


@pytest.mark.parametrize(
    ("name", "value", "full"),
    [
        ("max_fusion_size", 1, "max_fusion_size"),
        ("torch._inductor.config.triton.max_tiles", 1, "triton.max_tiles"),
        ("cpp.simdlen", None, "cpp.simdlen"),
        ("cpp.simdlen", 256, "cpp.simdlen"),
        ("epilogue_fusion", False, "epilogue_fusion"),
    ],
)
def test_a_setting_is_found(name: str, value: Any, full: str) -> None:
    assert checked({name: value}) == {full: value}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("max_fusion_siz", 1, "no such setting; is max_fusion_size, "),
        ("max_tiles", 1, "no such setting; is triton.max_tiles meant?"),
        ("max_fusion_size", "yes", "it takes a whole number, and this is a text"),
        ("max_fusion_size", True, "it takes a whole number, and this is True or False"),
        ("epilogue_fusion", 1, "it takes True or False, and this is a whole number"),
    ],
)
def test_a_setting_that_is_none_is_told(name: str, value: Any, told: str) -> None:
    with pytest.raises(RefusedError) as refused:
        checked({name: value})

    assert told in str(refused.value)


def test_the_ragged_size_of_a_jagged_tensor_is_a_symbol_without_a_number() -> None:
    text = RUNNABLE.replace("s77 = 12\n", "s77 = 12\ns47 = j1\ns48 = 2*j1\n")
    found = runnable(text, READABLE)
    assert (found.hints, found.ragged) == ({"s77": 12}, {"s47": (1, 1), "s48": (1, 2)})

    symbols = Symbols(found.hints, (), (), found.ragged)

    assert list(symbols.sizes) == ["j1"]
    told = {name: symbols.value(name, symbols.sizes["j1"]) for name in ("s47", "s48")}
    assert [str(value.node.expr) for value in told.values()] == ["s47", "s48"]
    assert [str(value.node.hint) for value in told.values()] == ["j1", "2*j1"]
