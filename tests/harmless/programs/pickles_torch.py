"""Copies, pickles and asks for the signature of every function and method of torch's compiler, and sends some to a process.

Prints those that do not come back as they were.
"""

import copy
import inspect
import io
import multiprocessing
import pickle
import sys
import types

import torch
import torch._inductor.compile_fx
from torch._inductor.compile_fx import compile_fx
from torch._inductor.graph import GraphLowering

sources: dict[types.ModuleType, str] = {}
PACKAGES = ("torch._inductor", "torch._dynamo", "torch._functorch", "torch.fx")


def told(function: object, number: int) -> tuple[str, str, int]:
    return function.__module__, function.__qualname__, number + (function is GraphLowering.run or function is compile_fx)


def is_written_in(module: types.ModuleType, value: object) -> bool:
    if module not in sources:
        with open(module.__file__, encoding="utf-8") as file:
            sources[module] = file.read()
    return f"{'class' if isinstance(value, type) else 'def'} {value.__name__}" in sources[module]


def functions():
    for name, module in sorted(sys.modules.items()):
        if not name.startswith(PACKAGES) or type(module) is not types.ModuleType:
            continue
        for value in list(vars(module).values()):
            if getattr(value, "__module__", None) != name or not is_written_in(module, value):
                continue
            if isinstance(value, types.FunctionType):
                yield f"{name}.{value.__qualname__}", value
            elif isinstance(value, type):
                for attribute, found in vars(value).items():
                    if isinstance(found, types.FunctionType):
                        yield f"{name}.{value.__qualname__}.{attribute}", found


if __name__ == "__main__":
    print(torch.compile(torch.cos)(torch.ones(3)).sum().item())
    count = 0
    for name, function in functions():
        count += 1
        if copy.deepcopy(function) is not function or copy.copy(function) is not function:
            print(name, "is copied")
        try:
            if pickle.load(io.BytesIO(pickle.dumps(function))) is not function:
                print(name, "comes back as another")
        except Exception as error:
            print(name, type(error).__name__, str(error).partition(" at 0x")[0])
        print(name, inspect.signature(function), inspect.getfullargspec(function).args, function.__doc__ is None)
    print(count > 1000, type(compile_fx).__name__, type(GraphLowering.run).__name__)
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        print(pool.starmap(told, [(compile_fx, 1), (GraphLowering.run, 2)]))
