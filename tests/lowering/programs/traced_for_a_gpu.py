"""Traces calls on the CPU as for a GPU, as AOTAutograd does for Inductor, and prints the operators of each graph.

One line of JSON for each: its name, the operators forward and backward, what was decided, what was left.
"""

import json
import sys
from contextlib import nullcontext

import torch
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config
from torch._inductor.decomposition import select_decomp_table
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from inspect_compile.lowering.intervention.cross_compile.attention import attention
from inspect_compile.lowering.intervention.cross_compile import by_device

capability = tuple(map(int, sys.argv[1].split(".")))
attention.install(capability, sys.argv[2] == "hip")
by_device.install()
sdpa = functional.scaled_dot_product_attention


def heads(dtype=torch.float32, size=(2, 4, 16, 8)):
    return torch.randn(size, dtype=dtype)


def mask(*size):
    return torch.ones(size or (16, 16), dtype=torch.bool)


def only_math(q):
    with sdpa_kernel(SDPBackend.MATH):
        result = sdpa(q, q, q)
    return result + sdpa(q, q, q)


def in_a_branch(q):
    def attended(q):
        return sdpa(q, q, q).contiguous()

    return torch.cond(q.sum() > 0, attended, lambda q: q.sin().contiguous(), (q,))


def alone(q):
    return sdpa(q, q, q)


HALF, BRAIN = torch.float16, torch.bfloat16
CASES = {
    "inference": (alone, heads()),
    "training": (alone, heads(), "grad"),
    "inference mode": (alone, heads(), "inference"),
    "half": (alone, heads(HALF)),
    "brain": (alone, heads(BRAIN), "grad"),
    "bool mask": (lambda q: sdpa(q, q, q, mask()), heads(), "grad"),
    "bool mask half": (lambda q: sdpa(q, q, q, mask()), heads(HALF)),
    "float mask": (lambda q: sdpa(q, q, q, torch.zeros(2, 1, 16, 16)), heads()),
    "mask of odd length": (lambda q: sdpa(q, q, q, mask(15, 15)), heads(size=(2, 4, 15, 8))),
    "mask of one column, expanded": (lambda q: sdpa(q, q, q, mask(1, 1, 16, 1).expand(2, 1, 16, 16)), heads()),
    "causal": (lambda q: sdpa(q, q, q, is_causal=True), heads(BRAIN), "grad"),
    "causal single": (lambda q: sdpa(q, q, q, is_causal=True), heads()),
    "dropout": (lambda q: sdpa(q, q, q, dropout_p=0.125), heads(), "grad"),
    "dropout half": (lambda q: sdpa(q, q, q, dropout_p=0.125), heads(HALF), "grad"),
    "groups": (lambda q: sdpa(q, q[:, :2], q[:, :2], enable_gqa=True), heads()),
    "groups half": (lambda q: sdpa(q, q[:, :2], q[:, :2], enable_gqa=True), heads(HALF), "grad"),
    "odd head": (alone, heads(size=(2, 4, 16, 13))),
    "odd head half": (alone, heads(HALF, (2, 4, 16, 13)), "grad"),
    "double": (alone, heads(torch.float64)),
    "empty": (alone, heads(size=(2, 4, 0, 8))),
    "only math": (only_math, heads(), "grad"),
    "branch": (in_a_branch, heads(size=(2, 4, 16, 8)).transpose(1, 2).contiguous().transpose(1, 2)),
    "vmap": (lambda q: torch.vmap(lambda q: sdpa(q, q, q))(q), heads(size=(3, 2, 4, 16, 8))),
    "dynamic": (lambda q: sdpa(q, q, q, mask(q.size(2), q.size(2))), heads(), "grad dynamic"),
    "rms_norm": (lambda x: functional.rms_norm(x, (8,)), heads(BRAIN), "grad"),
    "convolution": (
        lambda x, w, b: functional.conv2d(x, w, b),
        heads(),
        torch.randn(8, 4, 3, 3),
        torch.randn(8),
        "grad",
    ),
    "softmax": (lambda x: functional.softmax(x, -1, dtype=torch.float32), heads(HALF), "grad"),
    "lstm_cell": (
        lambda x, w, b: torch.lstm_cell(x, (x, x), w, w, b, b)[0],
        torch.randn(3, 4),
        torch.randn(16, 4),
        torch.randn(16),
    ),
    "dropout2d": (lambda x: functional.dropout2d(x, 0.5, True), heads()),
    "column": (lambda x, y: x @ y, torch.randn(40, 1), torch.randn(1, 30)),
    "group_norm": (lambda x: functional.group_norm(x, 2, torch.ones(4), torch.ones(4)), heads()),
    "masked_scatter": (lambda x: x.masked_scatter(x > 0, x), heads()),
}


class Traced(Exception):
    """A graph is not run: no CPU has its operators."""


def traced(function, *given):
    how = given[-1].split() if isinstance(given[-1], str) else []
    tensors = [tensor.requires_grad_("grad" in how) for tensor in given if isinstance(tensor, torch.Tensor)]
    found = {"forward": [], "backward": [], "remaining": []}

    def compiler(direction):
        def compile_graph(module, example_inputs):
            for graph_module in module.modules():
                if isinstance(graph_module, torch.fx.GraphModule):
                    found[direction] += [str(n.target) for n in graph_module.graph.nodes if n.op == "call_function"]
            return make_boxed_func(stopped)

        return compile_graph

    def stopped(*args):
        raise Traced

    def backend(module, example_inputs):
        found["remaining"] += by_device.remaining(module)
        return aot_autograd(
            fw_compiler=compiler("forward"), bw_compiler=compiler("backward"), decompositions=select_decomp_table()
        )(module, example_inputs)

    torch._dynamo.reset()
    with (
        torch.inference_mode() if "inference" in how else nullcontext(),
        config.patch(force_non_lazy_backward_lowering=True, enable_autograd_cache=False),
    ):
        try:
            torch.compile(function, backend=backend, dynamic="dynamic" in how)(*tensors)
        except Traced:
            pass
    return found | {"decided": [decision._asdict() for decision in attention.taken()]}


torch._dynamo.config.suppress_errors = False
for name, (function, *given) in CASES.items():
    if len(sys.argv) > 3 and name not in sys.argv[3:]:
        continue
    print(json.dumps({"name": name, **traced(function, *given)}), flush=True)
