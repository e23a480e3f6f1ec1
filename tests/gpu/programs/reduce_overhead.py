"""Replays of a CUDA graph: the CPU shows no operators, and only the order of the kernels tells what they are."""

import torch
from profiled import profiled


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(2048)
        self.up = torch.nn.Linear(2048, 4096)
        self.down = torch.nn.Linear(4096, 2048)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


model = torch.nn.Sequential(Block(), Block()).cuda().requires_grad_(False)
compiled = torch.compile(model, mode="reduce-overhead")
x = torch.randn(512, 2048, device="cuda")
profiled(lambda: compiled(x))
