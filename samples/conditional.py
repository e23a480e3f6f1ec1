"""Look at the three graphs of one torch.cond: the outer one, and one for each branch, lowered on their own."""

import torch


@torch.compile(fullgraph=True)
def scaled(x: torch.Tensor) -> torch.Tensor:
    def shrink(t: torch.Tensor) -> torch.Tensor:
        return torch.tanh(t) / 2

    def grow(t: torch.Tensor) -> torch.Tensor:
        return t.exp() + t

    return torch.cond(x.sum() > 0, shrink, grow, (x,)) + 1


def main() -> None:
    x = torch.linspace(0, 1, 64).reshape(8, 8)

    for sign in (1, -1):
        print(f"sign {sign:+d}: sum {scaled(sign * x).sum().item():.3f}")


if __name__ == "__main__":
    main()
