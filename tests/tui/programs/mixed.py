"""A little of everything that can be fused, and of what can not."""

import torch
from torch import nn
from torch.nn.functional import gelu


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.LayerNorm(32)
        self.up = nn.Linear(32, 64)
        self.down = nn.Linear(64, 32)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        y = self.norm(y)
        z = self.down(gelu(self.up(y)))
        rows, columns = z.softmax(-1), z.softmax(-2)
        t = (rows.transpose(-1, -2) * 2 + columns).cumsum(-1)
        u = (y - y.mean((0, 2), keepdim=True)).abs().amax(1)
        return t.sum(0), u, rows.argmax(-1)


torch.manual_seed(0)
model = torch.compile(Mixed())
t, u, _ = model(torch.randn(4, 3, 32, 32))
(t.sum() + u.sum()).backward()
print(f"t {list(t.shape)}  u {list(u.shape)}")
