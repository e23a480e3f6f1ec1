"""Look at scaled_dot_product_attention: one call in the source, and see which kernels carry it between the projections.

A pre-norm transformer block: attention and a feed-forward net, each with a residual.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.attention_norm(x))
        return x + self.down(F.gelu(self.up(self.mlp_norm(x))))

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


def main() -> None:
    torch.manual_seed(0)
    block = Block(width=128, heads=4).eval()
    tokens = torch.randn(2, 64, 128)

    compiled = torch.compile(block)
    with torch.no_grad():
        out = compiled(tokens)

    print(f"out {list(out.shape)}, mean of squares {out.square().mean().item():.3f}")


if __name__ == "__main__":
    main()
