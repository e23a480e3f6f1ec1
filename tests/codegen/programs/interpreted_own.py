"""Runs the kernels of own_kernels.py in Triton's interpreter, and prints what each computed: {"kernel": [FLOPs of
products, scalar operations, of them transcendental]}.

Counted are the builder's operations on floats, each for the elements of its result, and reductions for those that go in.
"""

import json
import os
import re
import sys
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import torch
from triton.runtime import interpreter

SPECIAL = {"create_exp"}
FLOATS = re.compile(r"create_(f(add|sub|mul|div|cmp\w+)|exp|max(num|imum)f|select)$")
found: dict[str, list[int]] = {}
kernel, is_inside = "", False


def count(name, size, *, heavy=False):
    if not is_inside:
        own = found.setdefault(kernel, [0, 0, 0])
        own[0 if heavy else 1] += size
        own[2] += size if name in SPECIAL else 0


def counted(name, method):
    def run(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        if name == "create_dot":
            count(name, 2 * args[0].data.shape[-1] * result.data.size, heavy=True)
        elif name == "create_atomic_rmw" or np.issubdtype(args[-1].data.dtype, np.floating):
            count(name, result.data.size)
        return result

    return run


def reduced(self, values, method=interpreter.ReduceOps.apply):
    global is_inside
    count("reduce", values[0].handle.data.size if isinstance(values, tuple) else values.handle.data.size)
    is_inside, before = True, is_inside
    try:
        return method(self, values)
    finally:
        is_inside = before


for name in dir(interpreter.InterpreterBuilder):
    if FLOATS.match(name) or name in ("create_dot", "create_atomic_rmw"):
        method = getattr(interpreter.InterpreterBuilder, name)
        setattr(interpreter.InterpreterBuilder, name, counted(name, method))
interpreter.ReduceOps.apply = reduced
started = interpreter.GridExecutor.__call__


def start(executor, *args, **kwargs):
    global kernel
    kernel = executor.fn.__name__
    return started(executor, *args, **kwargs)


interpreter.GridExecutor.__call__ = start

import own_kernels

torch.manual_seed(0)
own_kernels.launch(torch.randn(own_kernels.ROWS, own_kernels.DEEP), torch.randn(own_kernels.DEEP, own_kernels.COLUMNS))
print(json.dumps(found))
