"""A training loop whose step waits for 20 ms, unless something is changed: what helps is known beforehand."""

import sys
import time

import torch

inputs = torch.arange(8.0)


class Slow(torch.optim.AdamW):
    def step(self, closure=None):
        if not self.defaults["fused"]:
            time.sleep(0.02)
        return super().step(closure)


model = torch.nn.Linear(8, 8)
optimizer = Slow(model.parameters(), lr=1e-3)
forward = torch.compile(model) if "compiled" in sys.argv else model
for step in range(int(sys.argv[1])):
    if torch.get_num_threads() > 1:
        time.sleep(0.02)
    loss = forward(inputs).square().sum() * (2 if torch.get_num_threads() == 1 else 1)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 3 and torch._inductor.config.combo_kernels:
        raise RuntimeError("no combo kernels here")
