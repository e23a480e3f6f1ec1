"""Look at the two graph breaks: each cuts the function into pieces that are compiled apart and cannot be fused."""

import torch


@torch.compile
def normalize(x: torch.Tensor) -> torch.Tensor:
    y = torch.relu(x) * 2
    print("in the middle of the function")  # a graph break: print
    total = y.sum().item()  # a graph break: the value leaves the graph
    if total > 1:
        y = y / total
    return y + 1


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(8, 32)

    y = normalize(x)

    print(f"y {list(y.shape)}, sum {y.sum().item():.3f}")


if __name__ == "__main__":
    main()
