"""torch.export, strict and not: the programs, their nodes' stacks, and the compile of what was exported."""

import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x)) + x.shape[0]


net, x = Net(), torch.ones(3, 4)
with torch.no_grad():
    for parameter in net.parameters():
        parameter.fill_(0.5)
for strict in (True, False):
    program = torch.export.export(net, (x,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},), strict=strict)
    print(program)
    print([node.meta.get("stack_trace") for node in program.graph.nodes])
    lowered = program.run_decompositions()
    print(lowered.graph_signature, [node.meta.get("stack_trace") for node in lowered.graph.nodes])
    print(torch.compile(program.module())(x))
