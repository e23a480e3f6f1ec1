"""`counted.py SCRIPT ARG …`: that program twice, eager under torch's FLOP counter, then compiled.

Prints what the counter says, by operator, and for each compiled graph a list of its calls, each with the values that the
symbols among its inputs had.

Three things that the counter cannot do are done for it. It does not ask which module runs, where hooks on a model
without gradients fail. A nested tensor runs its operators on plain ones, which are counted. Control flow counts as the
compiled graphs have it: both branches, and one round of a loop.
"""

import json
import runpy
import sys

import torch
from torch._inductor.output_code import CompiledFxGraph
from torch._ops import HigherOrderOperator
from torch.nested._internal.nested_tensor import NestedTensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

script, sys.argv = sys.argv[1], sys.argv[1:]
calls: dict[int, list[dict[str, int]]] = {}
made, called = CompiledFxGraph.__init__, CompiledFxGraph.__call__


def init(graph, *args, **kwargs):
    made(graph, *args, **kwargs)
    lowered = args[1] if len(args) > 1 else kwargs["graph"]
    calls[id(graph)] = []
    kept.append((graph, [str(value) for value in lowered.graph_inputs.values()]))


def call(graph, inputs):
    names = next(names for known, names in kept if known is graph)
    calls[id(graph)].append({name: value for name, value in zip(names, inputs) if isinstance(value, int)})
    return called(graph, inputs)


class Modules:
    parents = frozenset({"Global"})

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


class Counting(flop_counter._FlopCounterMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(issubclass(kind, NestedTensor) for kind in types):
            return NotImplemented
        found = super().__torch_dispatch__(func, types, args, kwargs)
        is_asked = found is NotImplemented and not isinstance(func, HigherOrderOperator)
        return func(*args, **(kwargs or {})) if is_asked else found


kept: list[tuple[CompiledFxGraph, list[str]]] = []
CompiledFxGraph.__init__, CompiledFxGraph.__call__ = init, call
torch._dynamo.config.disable = True
flop_counter._FlopCounterMode = Counting
counter = FlopCounterMode(display=False)
counter.mod_tracker = Modules()
control = torch.cond, torch.while_loop
torch.cond = lambda pred, yes, no, given=(): yes(*given) + 0 * no(*given)
torch.while_loop = lambda goes_on, body, carried: body(*carried)
with sdpa_kernel(SDPBackend.MATH), counter:
    runpy.run_path(script, run_name="__main__")
torch.cond, torch.while_loop = control
torch._dynamo.reset()  # what the first run told to skip
torch._dynamo.config.disable = False
runpy.run_path(script, run_name="__main__")
counts = {str(op): count for op, count in counter.get_flop_counts().get("Global", {}).items()}
print("\n" + json.dumps({"eager": counts, "calls": list(calls.values())}))
