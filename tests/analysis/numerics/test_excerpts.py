"""What one launch needs of output_code.py is found by its line, and by what makes the names that it uses."""

import pytest

from inspect_compile.analysis.numerics.excerpts import excerpt

CODE = """\
import torch
from torch._C import _cuda_getCurrentRawStream as get_raw_stream
aten = torch.ops.aten
unused = aten.mul
async_compile = AsyncCompile()
size = 4
meta = {'size': size}


@triton.jit
def helper(x):
    return x


triton_a = async_compile.triton('triton_a', '''
def triton_a(x):
    pass
''', device_str='cuda')

triton_b = async_compile.triton('triton_b', '''
def triton_a(x):
    pass
''', meta=meta, helper=helper)

async_compile.wait(globals())

class Runner:
    def call(self, args):
        with torch.cuda._DeviceGuard(0):
            stream0 = get_raw_stream(0)
            triton_a.run(buf0, 4, stream=stream0)
            triton_b.run(
                buf0,
                aten.view, stream=stream0)
            buf1 = aten.mul(buf0, 2)
        return (buf1, )
"""


def at(text: str) -> int:
    return next(number for number, line in enumerate(CODE.splitlines(), 1) if text in line)


def test_the_kernel_and_what_it_is_made_with() -> None:
    found = excerpt(CODE, at("aten.view, stream"), at("triton_b = "))

    assert found is not None
    assert found.imports == "\n".join(CODE.splitlines()[:2])
    assert found.streams == ("stream0 = get_raw_stream(0)",)
    assert found.statement == "triton_b.run(\n    buf0,\n    aten.view, stream=stream0)"
    assert found.definitions.startswith("aten = torch.ops.aten\nasync_compile = AsyncCompile()\nsize = 4\nmeta = ")
    assert "@triton.jit\ndef helper" in found.definitions
    assert found.definitions.endswith("helper=helper)\nasync_compile.wait(globals())")
    assert "triton_a =" not in found.definitions
    assert "unused" not in found.definitions


def test_a_launch_of_an_extern_kernel_has_no_definition() -> None:
    found = excerpt(CODE, at("buf1 = "), None)

    assert found is not None
    assert (found.definitions, found.streams) == ("aten = torch.ops.aten", ())
    assert found.statement == "buf1 = aten.mul(buf0, 2)"


@pytest.mark.parametrize(("code", "line"), [("no python (", 1), (CODE, 1000), ("", 1), ("(" * 100_000, 1)])
def test_without_such_a_statement_there_is_nothing(code: str, line: int) -> None:
    assert excerpt(code, line, None) is None
