"""The text of an exported graph is taken as that of any other, with its parameters as inputs."""

import ast

import pytest

from inspect_compile.lowering.intervention.replay.exported import is_exported, of_exported
from inspect_compile.lowering.intervention.replay.known import TensorText
from inspect_compile.lowering.intervention.replay.runnable import RefusedError, Runnable, runnable
from inspect_compile.lowering.intervention.replay.strangers import of_known_shape

TEXT = """
import torch
torch._inductor.config.cpp_wrapper = True
torch._inductor.config.max_fusion_size = 8
torch._inductor.config.aot_inductor.package = True

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = Module(
  (0): Module(
    (norm): Module()
  )
  (1): Module()
).cuda()
        self.register_buffer('_tensor_constant0', tensor([1.0]))
        self.scale = torch.nn.Parameter(torch.randn([4], dtype=torch.float32))

    def forward(self, x):
        arg2_1, arg3_1, = fx_pytree.tree_flatten_spec(([x], {}), self._in_spec)
        layers_0_weight = getattr(self.layers, "0").weight
        scale = self.scale
        _tensor_constant0 = self._tensor_constant0
        mm = torch.ops.aten.mm.default(arg2_1, layers_0_weight)
        mul = torch.ops.aten.mul.Tensor(mm, scale)
        add = torch.ops.aten.add.Tensor(mul, _tensor_constant0)
        return pytree.tree_unflatten([add, arg3_1], self._out_spec)

def load_args(reader):
    buf0 = reader.storage(None, 128)
    reader.tensor(buf0, (s27, 4), is_leaf=True)  # arg2_1
    reader.symint(8)  # arg3_1
load_args._version = 0
mod = Repro()
"""
PARAMETERS: dict[str, TensorText] = {
    "layers_0_weight": ("float32", [4, 4], [1, 4], "cuda:0"),
    "scale": ("float32", [4], [1], ""),
}


def taken(text: str) -> tuple[Runnable, list[str]]:
    return of_exported(runnable(text, ""), PARAMETERS)


def test_parameters_become_inputs() -> None:
    found, parameters = taken(TEXT)

    assert parameters == ["layers_0_weight", "scale"]
    assert [argument.arg for argument in found.body.function.args.args] == ["self", "arg2_1", "arg3_1", *parameters]
    assert [ast.unparse(setting) for setting in found.settings] == [
        "torch._inductor.config.cpp_wrapper = True", "torch._inductor.config.max_fusion_size = 8",
    ]  # fmt: skip
    assert ast.unparse(found.body.function.body[-1]) == "return [add, arg3_1]"
    text = ast.unparse(found.program)
    assert "reader.tensor(buf100000, (4, 4), (1, 4), dtype=torch.float32, is_leaf=True)" in text
    assert "register_buffer" in text
    for left_out in ("Module()", "Parameter", "tree_flatten_spec", "tree_unflatten"):
        assert left_out not in text
    of_known_shape(found)  # a stranger's is taken, too


def test_another_graph_is_not_exported() -> None:
    text = TEXT.replace("arg2_1, arg3_1, = fx_pytree.tree_flatten_spec(([x], {}), self._in_spec)", "pass")
    assert is_exported(runnable(TEXT, ""))
    assert not is_exported(runnable(text, ""))


def test_a_parameter_without_a_size_is_told() -> None:
    with pytest.raises(RefusedError, match="the graph reads the parameter scale, whose size was not recorded"):
        of_exported(runnable(TEXT, ""), {"layers_0_weight": PARAMETERS["layers_0_weight"]})


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("  (1): Module()\n).cuda()", ").cuda()\n        self.layers, b = open('written', 'w'), 1"),
        ("super().__init__()", "open('written', 'w')"),
        ("[add, arg3_1]", "[open('written', 'w')]"),
        ("reader.symint(8)", "open('written', 'w')"),
    ],
)
def test_nothing_of_a_strangers_runs(line: str, instead: str) -> None:
    assert line in TEXT
    with pytest.raises(RefusedError, match="not one that torch writes"):
        of_known_shape(taken(TEXT.replace(line, instead))[0])


def test_a_size_is_no_code() -> None:
    evil: dict[str, TensorText] = {**PARAMETERS, "scale": ("float32", ["open('written', 'w')"], [1], "")}
    found, _ = of_exported(runnable(TEXT, ""), evil)
    with pytest.raises(RefusedError, match="not one that torch writes"):
        of_known_shape(found)
