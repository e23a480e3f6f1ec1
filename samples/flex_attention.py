"""Look at flex_attention: score_mod and the mask are small graphs that end inside the attention kernel itself.

Forward only; on the CPU it is a C++ template, so it needs a C++ compiler and a CPU with AVX2 or better.
"""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def distance_penalty(
    score: torch.Tensor, batch: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor
) -> torch.Tensor:
    return score - 0.1 * (query - key)


def causal(batch: torch.Tensor, head: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query >= key


def main() -> None:
    torch.manual_seed(0)
    batch, heads, length, width = 1, 2, 256, 32
    q, k, v = (torch.randn(batch, heads, length, width) for _ in range(3))
    mask = create_block_mask(causal, B=None, H=None, Q_LEN=length, KV_LEN=length, device=q.device)

    compiled = torch.compile(flex_attention)
    with torch.no_grad():
        out = compiled(q, k, v, score_mod=distance_penalty, block_mask=mask)

    print(f"out {list(out.shape)}, mean of squares {out.square().mean().item():.3f}")


if __name__ == "__main__":
    main()
