"""Traces torch's own table of operators (`op_db`) on a GPU that is not here, and then as a graph for it is traced on the
CPU. Prints a line for each operator with other calls of ATen in the two: what is missing, and what is there instead.
"""

import sys
import types
import unittest
import warnings
from collections import Counter

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.lowering.intervention.cross_compile import fake_cuda

if "expecttest" not in sys.modules:  # torch's table is imported with torch's own tests; nothing of it is used here
    stub = types.ModuleType("expecttest")
    stub.TestCase = unittest.TestCase
    sys.modules["expecttest"] = stub

warnings.simplefilter("ignore")
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

TARGET = TARGETS["sm_90"]
SAMPLES = 4
NOT_COMPUTED = ("prim.device.default", "aten.detach.default")
MOVED = "aten._to_copy.default"
"""A constant goes to the GPU: graphs of programs have the move, as they name the device."""


class Calls(TorchDispatchMode):
    """Counts the operators that are called."""

    def __init__(self):
        super().__init__()
        self.seen = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if str(func) not in NOT_COMPUTED:
            self.seen[str(func)] += 1
        return func(*args, **(kwargs or {}))


def traced(operator, sample, device):
    def there(value):
        if isinstance(value, torch.Tensor):
            return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device=device)
        return device if value == "cpu" and isinstance(value, str) else value

    with FakeTensorMode(allow_non_fake_inputs=True):
        arguments, named = tree_map(there, (sample.input, *sample.args)), tree_map(there, sample.kwargs)
        with Calls() as calls, enable_python_dispatcher():
            operator(*arguments, **named)
    return calls.seen


fake_cuda.install(TARGET)
cases = []
for op in op_db:
    if not op.supports_dtype(torch.float32, "cpu"):
        continue
    try:
        samples = list(op.sample_inputs("cpu", torch.float32))[:SAMPLES]
    except Exception:  # torch's table wants another library for its samples
        continue
    for sample in samples:
        try:
            cases.append((op, sample, traced(op, sample, "cuda:0")))
        except Exception:  # its shape depends on numbers
            continue

from inspect_compile.lowering.intervention.cross_compile import by_device  # noqa: E402
from inspect_compile.lowering.intervention.cross_compile.attention import attention  # noqa: E402

attention.install(TARGET.capability, TARGET.backend == "hip")
by_device.install()
lines = set()
for op, sample, on_gpu in cases:
    on_cpu = traced(op, sample, "cpu")
    missing, instead = on_gpu - on_cpu, on_cpu - on_gpu
    del missing[MOVED]
    if missing or instead:
        lines.add(f"{op.name}: {sorted(missing)} {sorted(instead)}")
print(*sorted(lines), f"tried {len(cases)}", sep="\n")
