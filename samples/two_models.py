"""Look at the list of graphs: two models in one program, each with graph ids, kernels and source lines of its own."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(48, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.project(x))


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Linear(12, 48)
        self.norm = nn.LayerNorm(48)

    def forward(self, code: torch.Tensor) -> torch.Tensor:
        return self.norm(self.expand(code))


def main() -> None:
    torch.manual_seed(0)
    encoder = torch.compile(Encoder().eval())
    decoder = torch.compile(Decoder().eval())
    x = torch.randn(16, 48)

    with torch.no_grad():
        code = encoder(x)
        restored = decoder(code)

    print(f"code {list(code.shape)}, restored {list(restored.shape)}, error {(x - restored).abs().mean().item():.3f}")


if __name__ == "__main__":
    main()
