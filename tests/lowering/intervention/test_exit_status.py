"""The exit status of `numerics`: 0 only where every result was compared."""

from pathlib import Path
from typing import Final

import pytest

from tests.running import COMMAND, run

HEAD: Final = """
import os, signal, torch
function = torch.compile(lambda x: x.sin() + 1)
"""
NOT_ASKED: Final = "its calls were not among those to be checked"


@pytest.mark.parametrize(
    ("options", "code", "status", "told"),
    [
        ((), "function(torch.ones(64)), function(torch.ones(64))", 0, "the reference is Dynamo's graph"),
        (("--calls", "3"), "function(torch.ones(64)), function(torch.ones(64))", 3, NOT_ASKED),
        ((), "function(torch.ones(64)); os.kill(os.getpid(), signal.SIGKILL)", 3, "the program was killed"),
        ((), "function(torch.ones(64)); raise SystemExit(3)", 3, "the program ended with exit status 3"),
        # Its random numbers are drawn in another way before the passes.
        ((), "torch.compile(lambda x: x + torch.rand(64))(torch.ones(64))", 3, "random numbers"),
    ],
)
def test_nothing_is_wrong(
    options: tuple[str, ...], code: str, status: int, told: str, tmp_path: Path, inductor_cache: Path
) -> None:
    (tmp_path / "program.py").write_text(HEAD + code)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", *options, "program.py"], tmp_path, environment=environment)

    assert done.returncode == status, done.stderr
    assert told in done.stderr
    assert ("compared at no level: " in done.stderr) == bool(status)


PACKAGE: Final = """
import sys, torch
from torch._inductor.lowering import make_pointwise, register_lowering
from torch._inductor.virtualized import ops

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        return torch.tanh(self.layer(x))

if sys.argv[1] == "wrong":
    register_lowering(torch.ops.aten.tanh.default)(make_pointwise(lambda x: x * ops.constant(0.9, torch.float32)))
net, x = Net().eval(), torch.randn(3, 4)
path = torch._inductor.aoti_compile_and_package(torch.export.export(net, (x,)), package_path="net.pt2")
if sys.argv[1] != "only packaged":
    torch._inductor.aoti_load_package(path)(x)
"""


@pytest.mark.parametrize(
    ("kind", "status", "told"),
    [
        ("right", 0, "compared with the exported module: 1 of 1 results of graphs"),
        ("wrong", 1, "first wrong: AOTInductor makes result"),
        ("only packaged", 3, "AOTInductor packaged it, and no call of the package was seen in this process"),
    ],
)
def test_packages(kind: str, status: int, told: str, tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "program.py").write_text(PACKAGE)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", "program.py", kind], tmp_path, environment=environment)

    assert done.returncode == status, done.stderr
    assert told in done.stderr


REGIONS: Final = """
import sys, torch

@torch.compiler.nested_compile_region
def of_argument(x):
    return x.sin() + 1

@torch.compiler.nested_compile_region
def of_module(x, layer):
    return layer(x).sin()

table = torch.ones(4)

@torch.compiler.nested_compile_region
def of_global(x):
    return x.sin() + table

layers = [torch.nn.Linear(4, 4) for _ in range(2)]

def step(x):
    for layer in layers:
        if sys.argv[1] == "module":
            x = of_module(x, layer)
        else:
            x = of_argument(x) if sys.argv[1] == "argument" else of_global(x)
    return x

torch.compile(step)(torch.ones(4, 4))
"""
"""Each calls a region twice."""


@pytest.mark.parametrize(("reads", "status"), [("argument", 0), ("module", 0), ("global", 3)])
def test_a_region_that_is_captured_once(reads: str, status: int, tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "program.py").write_text(REGIONS)
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}

    done = run([*COMMAND, "numerics", "--dump", "dump", "program.py", reads], tmp_path, environment=environment)

    assert done.returncode == status, done.stderr
    assert ("which the region reads beside its arguments" in done.stderr) == bool(status)
