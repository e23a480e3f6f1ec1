"""One network whose joint graph is cut in different ways, and what the cut graphs themselves show of each.

`partitions.py FILE`: a JSON object, the name of the way → `graph`, its compile id, `saved`, what the forward returns
beside the one value that the program gets, and `again`, the operators that both graphs have. Nothing is generated.
"""

import functools
import json
import sys

import torch
import torch._functorch.config as config
import torch.nn.functional as F
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import default_partition
from torch._guards import CompileContext
from torch._inductor import config as inductor_config
from torch._inductor.compile_fx import partition_fn
from torch._inductor.custom_graph_pass import CustomPartitionerFn
from torch._inductor.decomposition import select_decomp_table
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

FOUND = {}
weights = [torch.randn(16, 16, requires_grad=True) for _ in range(3)]


def output(module):
    (last,) = (node for node in module.graph.nodes if node.op == "output")
    return [node.name for node in last.args[0] if node is not None]


def operators(module):
    return [node.name for node in module.graph.nodes if node.op == "call_function"]


def cut(name, partition):
    """A backend that compiles nothing: the graphs run as they are."""
    graphs = {}

    def seen(kind, module, inputs):
        graphs[kind] = module
        if kind == "backward":
            again = [node for node in operators(module) if node in operators(graphs["forward"])]
            compiled = str(CompileContext.current_compile_id())
            FOUND[name] = {"graph": compiled, "saved": output(graphs["forward"])[1:], "again": again}
        return make_boxed_func(module.forward)

    compilers = {"fw_compiler": functools.partial(seen, "forward"), "bw_compiler": functools.partial(seen, "backward")}
    return aot_autograd(**compilers, partition_fn=partition, decompositions=select_decomp_table)


def block(x, weight):
    return torch.sigmoid(F.gelu(x @ weight)).softmax(-1)


def net(x):
    for weight in weights:
        x = block(x, weight)
    return x.sum()


def checkpointed(x):
    for weight in weights:
        x = checkpoint(block, x, weight, use_reentrant=False)
    return x.sum()


def policy(context, operator, *args, **kwargs):
    return (
        CheckpointPolicy.MUST_SAVE if operator == torch.ops.aten.mm.default else CheckpointPolicy.PREFER_RECOMPUTE
    )


def selective(x):
    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    for weight in weights:
        x = checkpoint(block, x, weight, use_reentrant=False, context_fn=contexts)
    return x.sum()



class Mine(CustomPartitionerFn):
    def __call__(self, joint, inputs, *, compiler, **options):
        return default_partition(joint, inputs, **options)

    def uuid(self):
        return "mine"


def run(name, function, partition=partition_fn, dynamic=False, **settings):
    with config.patch(settings):
        compiled = torch.compile(function, backend=cut(name, partition), dynamic=dynamic)
        compiled(torch.randn(32, 16, requires_grad=True)).backward()


run("plain", net)
run("dynamic", net, dynamic=True)
run("checkpoint", checkpointed)
run("selective", selective)
run("half", net, activation_memory_budget=0.5)
run("nothing", net, activation_memory_budget=0.0)
run("aggressive", net, aggressive_recomputation=True)
run("default", net, partition=default_partition)
with inductor_config.patch(custom_partitioner_fn=Mine()):
    run("custom", net)
with open(sys.argv[1], "w") as file:
    json.dump(FOUND, file)
