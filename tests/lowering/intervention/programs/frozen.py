"""A network whose weights are frozen: torch packs them for oneDNN and MKL, and lowers patterns as one."""

import torch
from torch import nn
from torch._inductor import config


def main() -> None:
    torch.manual_seed(0)
    config.freezing = True
    layers = (nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 32), nn.GELU())
    model = nn.Sequential(*layers, nn.Linear(32, 10)).eval()
    with torch.no_grad():
        print(torch.compile(model)(torch.randn(2, 3, 8, 8)).sum().item())


if __name__ == "__main__":
    main()
