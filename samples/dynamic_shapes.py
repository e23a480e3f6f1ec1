"""Look at the second compile: the batch of another size makes Dynamo take the dimension as a symbol, then reuse that.

Three calls, two compiles: 0/0 for exactly 8 rows, 0/1 for s rows.
"""

import torch
from torch import nn


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)).eval()

    compiled = torch.compile(model)
    with torch.no_grad():
        for rows in (8, 12, 20):
            out = compiled(torch.randn(rows, 32))
            print(f"{rows} rows: out {list(out.shape)}, mean {out.mean().item():.3f}")


if __name__ == "__main__":
    main()
