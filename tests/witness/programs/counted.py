"""`counted.py SCRIPT ARG …`: that program twice, eager under torch's FLOP counter, then compiled.

Prints what the counter says, by operator, and for each compiled graph a list of its calls, each with the values that the
symbols among its inputs had.
"""

import json
import runpy
import sys

import torch
from torch._inductor.output_code import CompiledFxGraph
from torch.nn.attention import SDPBackend, sdpa_kernel
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


kept: list[tuple[CompiledFxGraph, list[str]]] = []
CompiledFxGraph.__init__, CompiledFxGraph.__call__ = init, call
torch._dynamo.config.disable = True
with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
    runpy.run_path(script, run_name="__main__")
torch._dynamo.reset()  # what the first run told to skip
torch._dynamo.config.disable = False
runpy.run_path(script, run_name="__main__")
counts = {str(op): count for op, count in counter.get_flop_counts().get("Global", {}).items()}
print("\n" + json.dumps({"eager": counts, "calls": list(calls.values())}))
