"""A layer whose matmul is chosen among candidates."""

import torch

layer = torch.nn.Linear(256, 512).half().eval()
with torch.no_grad():
    print(torch.compile(layer, mode="max-autotune")(torch.zeros(128, 256).half()).shape)
