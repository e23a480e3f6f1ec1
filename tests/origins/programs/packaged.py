"""An exported program with a symbolic size, a conditional and several outputs of a node, and a package of it."""

import sys

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.register_buffer("scale", torch.ones(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        return x + torch.softmax(q * k, -1) * v * self.scale


class Choice(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() * 2, (x,))


x = torch.randn(8, 16)
program = torch.export.export(Block().eval(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch", min=2, max=64)}})
if sys.argv[1] == "exported":
    torch.export.save(program, "exported.pt2")
    torch.export.save(torch.export.export(Choice(), (x,)), "choice.pt2")
    for path, saved in (("exported", program), ("choice", torch.export.export(Choice(), (x,)))):
        for node in saved.graph_module.graph.nodes:
            print(path, node.op, node.name, *(one.name for one in node.all_input_nodes))
else:
    static = torch.export.export(Block().eval(), (x,))
    # The sources alone: a C++ compiler would take most of the time.
    alone = {"aot_inductor.package_cpp_only": True}
    torch._inductor.aoti_compile_and_package(static, package_path="aoti.pt2", inductor_configs=alone)
