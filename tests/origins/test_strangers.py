"""Of a stranger's fx_graph_runnable.py nothing runs that torch does not write there."""

import ast

import pytest

from inspect_compile.lowering.intervention.replay.runnable import RefusedError, Runnable, runnable
from inspect_compile.lowering.intervention.replay.strangers import of_known_shape

WRITTEN = '''
import os
os.environ['TORCHINDUCTOR_MAX_AUTOTUNE'] = '1'
import torch
from torch import tensor, device
import torch.fx as fx
from torch._dynamo.testing import rand_strided
from math import inf
import torch._inductor.inductor_prims
import torch.distributed as dist
import torch._inductor.config
import fbgemm_gpu
torch._inductor.config.max_fusion_size = 8
torch._inductor.config.cpp.cxx = '/tmp/evil'
torch._inductor.config.post_grad_custom_pre_pass = print
torch.ops.load_library("//a:b")
isolate_fails_code_str = None

"""
To run this script
"""

from torch.nn import *
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('_tensor_constant0', tensor([1.0, 2.0]))
        self.register_buffer('_tensor_constant1', torch.randn([3], dtype=torch.float32).cuda())

    def forward(self, arg0_1, s27):
        _tensor_constant0 = self._tensor_constant0
        mul = torch.ops.aten.mul.Tensor(arg0_1, -inf);  arg0_1 = None
        full = torch.ops.aten.full.default([s27, 2 * s27 + 1], 0, dtype = torch.float32, device = device(type='cuda', index=0), pin_memory = False)
        add = s27 + 1
        getitem = mul[0]
        return (mul, full, add, getitem)

def load_args(reader):
    buf0 = reader.storage(None, 4*s27, device=device(type='cuda', index=0), dtype_hint=torch.int64)
    reader.tensor(buf0, (s27,), dtype=torch.int64, is_leaf=True)  # arg0_1
    reader.symint(8)  # s27
    if hasattr(reader, 'args'):
        _repeats = reader.args[0]
        _repeats.fill_(reader.args[1] // _repeats.numel())
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    run_repro(mod, load_args)
'''  # noqa: E501
EVIL = "open('written', 'w').write('x')"


def taken(text: str) -> Runnable:
    return of_known_shape(runnable(text, ""))


def test_all_that_torch_writes_is_taken() -> None:
    found = taken(WRITTEN)

    assert ast.unparse(found.body.function).count("torch.ops.aten") == 2
    assert [ast.unparse(setting) for setting in found.settings] == ["torch._inductor.config.max_fusion_size = 8"]
    assert found.environment == {}
    text = ast.unparse(found.program)
    assert "class Repro" in text
    assert "load_args" in text
    for left_out in ("_repeats", "import os", "fbgemm_gpu", "load_library", "run_repro", "environ"):
        assert left_out not in text


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        pytest.param("isolate_fails_code_str = None", EVIL, id="a statement"),
        pytest.param("isolate_fails_code_str = None", f"isolate = {EVIL}", id="a value"),
        pytest.param("isolate_fails_code_str = None", f"for one in [{EVIL}]: pass", id="a loop"),
        pytest.param("isolate_fails_code_str = None", f"with {EVIL}: pass", id="a block"),
        pytest.param("isolate_fails_code_str = None", f"assert {EVIL}", id="an assertion"),
        pytest.param("isolate_fails_code_str = None", f"def other(a={EVIL}): pass", id="another function"),
        pytest.param("class Repro(torch.nn.Module):", f"@{EVIL}\nclass Repro(torch.nn.Module):", id="a decorator"),
        pytest.param("class Repro(torch.nn.Module):", f"class Repro({EVIL}):", id="a base"),
        pytest.param(
            "class Repro(torch.nn.Module):", f"class Repro(torch.nn.Module, metaclass={EVIL}):", id="a metaclass"
        ),
        pytest.param("    def __init__(self) -> None:", f"    {EVIL}\n    def __init__(self):", id="in the class"),
        pytest.param("    def __init__(self) -> None:", f"    a: {EVIL}\n    def __init__(self):", id="its annotation"),
        pytest.param("    def __init__(self) -> None:", f"    def __init__(self) -> {EVIL}:", id="what it returns"),
        pytest.param("        super().__init__()", f"        super().__init__({EVIL})", id="to the base"),
        pytest.param("        super().__init__()", f"        {EVIL}", id="in the constructor"),
        pytest.param("tensor([1.0, 2.0])", f"tensor([{EVIL}])", id="in a constant"),
        pytest.param(
            "tensor([1.0, 2.0])", "torch.ops.aten.from_file.default('a', True, 8)", id="an operator that runs"
        ),
        pytest.param("tensor([1.0, 2.0])", "torch.load('a')", id="a function of torch's"),
        pytest.param("tensor([1.0, 2.0])", "torch.hub.load('a', 'b')", id="a module of torch's"),
        pytest.param("tensor([1.0, 2.0])", "tensor(().__class__.__base__.__subclasses__())", id="what Python hides"),
        pytest.param("tensor([1.0, 2.0])", "tensor([9 ** 9 ** 9])", id="a number without end"),
        pytest.param("tensor([1.0, 2.0])", "tensor('a' * 10 ** 12)", id="a text without end"),
        pytest.param(".cuda())", ".tofile('a'))", id="a method of a constant"),
        pytest.param("forward(self, arg0_1, s27):", f"forward(self, arg0_1, s27={EVIL}):", id="a default"),
        pytest.param("forward(self, arg0_1, s27):", f"forward(self, arg0_1: {EVIL}, s27):", id="an annotation"),
        pytest.param("forward(self, arg0_1, s27):", 'forward(self, arg0_1: "f32[().__class__]", s27):', id="a size"),
        pytest.param("add = s27 + 1", 'add: "f32[9 ** 9 ** 9]" = s27 + 1', id="a size without end"),
        pytest.param("add = s27 + 1", f"add = {EVIL}", id="a node"),
        pytest.param("add = s27 + 1", f"add = [{EVIL} for a in (1,)]", id="a comprehension"),
        pytest.param("add = s27 + 1", f"add = (lambda: {EVIL})()", id="a function without a name"),
        pytest.param("add = s27 + 1", 'add = f"{print()}"', id="a formatted text"),
        pytest.param("add = s27 + 1", "add = mul.numpy().tofile('written')", id="a method of a value"),
        pytest.param("add = s27 + 1", "add = torch.ops.load_library('a')", id="a library"),
        pytest.param("add = s27 + 1", "add = torch.ops.aten.from_file.default('a')", id="an operator that reads"),
        pytest.param("add = s27 + 1", "add = torch.ops.aten.add.Tensor(mul, torch.ops.a.b())", id="one in another"),
        pytest.param("add = s27 + 1", "add = torch.ops.strange.one(mul)", id="a stranger's operator without overload"),
        pytest.param("add = s27 + 1", f"add = torch.ops.strange.one.default({EVIL})", id="to a stranger's operator"),
        pytest.param("add = s27 + 1", "add = torch.ops.strange.__init__.default(mul)", id="a hidden operator"),
        pytest.param("add = s27 + 1", "add = operator.methodcaller('a')(mul)", id="a caller"),
        pytest.param("add = s27 + 1", "add = torch.utils.cpp_extension.load('a')", id="a compiler"),
        pytest.param("reader.symint(8)", f"reader.symint({EVIL})", id="an input"),
        pytest.param("reader.symint(8)", "reader.__init__(8)", id="a hidden method of the reader"),
        pytest.param("reader.symint(8)", EVIL, id="beside the inputs"),
        pytest.param("def load_args(reader):", f"def load_args(reader: {EVIL}):", id="annotation of the reader"),
        pytest.param("def load_args(reader):", f"@{EVIL}\ndef load_args(reader):", id="a decorator of the inputs"),
        pytest.param("load_args._version = 0", f"load_args._version = {EVIL}", id="the version"),
    ],
)
def test_nothing_else_is(line: str, instead: str) -> None:
    assert line in WRITTEN

    with pytest.raises(RefusedError, match=r"not one that torch writes|not one of torch's operators"):
        taken(WRITTEN.replace(line, instead, 1))


def test_a_strangers_operator_is_named_and_not_run() -> None:
    found = taken(WRITTEN.replace("add = s27 + 1", "add = torch.ops.strange.one.default(mul, 2)"))
    assert "torch.ops.strange.one.default(mul, 2)" in ast.unparse(found.body.function)


def test_a_nested_graph_is_looked_at_too() -> None:
    nested = f'class <lambda>(torch.nn.Module):\n    class Inner(torch.nn.Module):\n        def forward(self, a: "f32[2]"):\n            b = {EVIL}\n            return (b,)\n'  # noqa: E501
    text = WRITTEN.replace("        super().__init__()", "        super().__init__()\n        self.Inner = <lambda>()")

    with pytest.raises(RefusedError, match="not one that torch writes"):
        of_known_shape(runnable(text, nested))
