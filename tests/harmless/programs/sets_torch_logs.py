"""Sets TORCH_LOGS itself: every artifact that torch logs while it compiles, with its own formats, goes to stderr."""

import os

os.environ["TORCH_LOGS"] = (
    "+dynamo,+aot,+inductor,dynamic,guards,recompiles,recompiles_verbose,graph_breaks,graph_code,graph,aot_graphs,"
    "aot_joint_graph,post_grad_graphs,ir_pre_fusion,ir_post_fusion,output_code,schedule,fusion,overlap,bytecode,"
    "trace_source,trace_call,perf_hints,cudagraphs,sym_node,compiled_autograd"
)

import torch  # noqa: E402


@torch.compile
def net(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x @ w)
    torch._dynamo.graph_break()
    return torch.softmax(y, -1) * y.mean()


w = torch.ones(4, 4, requires_grad=True)
for rows in (2, 3):
    net(torch.ones(rows, 4), w).sum().backward()
print(w.grad)
