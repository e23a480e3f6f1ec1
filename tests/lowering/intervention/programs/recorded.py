"""A training in which one step goes wrong: `recorded.py KIND [--raise] [--device DEVICE] [--mode MODE]`.

`forward`: the logarithm of a negative number; `backward`: the square root of zero, whose gradient is NaN; `saved`: a
product that overflows, is masked in the forward and multiplied by zero in the backward; `half`: a product that
overflows in float16, before it is made NaN; `nothing`: no such step. Under torchrun each rank has its own batches, and
rank 1 alone the bad one.
"""

import argparse
import math

import torch
import torch.distributed as dist
from torch import Tensor, nn

BAD = 6
STEPS = 9


class Net(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 4)
        self.norm = nn.BatchNorm1d(32)
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, x: Tensor, level: Tensor) -> Tensor:
        h = nn.functional.dropout(torch.relu(self.norm(self.up(x))), 0.25)
        if self.kind == "forward":
            h = h * torch.log(level)
        if self.kind == "backward":
            h = h + torch.sqrt((level - 1) * self.scale)
        if self.kind == "saved":
            product = (x * level) @ self.up.weight.t()
            h = h + torch.where(product.abs() < 1e30, product * self.scale, 0.0) / level
        if self.kind == "half":
            product = (x * level).half() @ (10 * self.up.weight.t()).half()
            h = h + (product - product.mean()).float() * 1e-3
        return nn.functional.linear(h * self.scale, self.down.weight, self.down.bias)


def levels(kind: str, step: int) -> float:
    bad = {"forward": -1.0, "backward": 1.0, "saved": 3e38, "half": 1e4}
    return bad[kind] if step == BAD and kind in bad else 0.1 if kind == "half" else 1.25


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("--raise", dest="raises", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--mode")
    asked = parser.parse_args()
    is_distributed = dist.is_torchelastic_launched()
    if is_distributed:
        dist.init_process_group("gloo")
    rank = dist.get_rank() if is_distributed else 0
    torch.manual_seed(rank)
    model = Net(asked.kind).to(asked.device)
    shared = nn.parallel.DistributedDataParallel(model) if is_distributed else model
    compiled = torch.compile(shared, mode=asked.mode)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(1, STEPS + 1):
        x = torch.randn(8, 16, device=asked.device)
        bad_here = not is_distributed or rank == 1
        level = torch.tensor(levels(asked.kind if bad_here else "nothing", step), device=asked.device)
        loss = compiled(x, level).square().mean()
        if asked.raises and not math.isfinite(loss.item()):
            raise FloatingPointError(f"loss in step {step}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, loss.item())
    print(torch.rand(2))
    if is_distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
