"""The loss of three rows."""

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
loss = torch.compile(torch.nn.CrossEntropyLoss())
print(loss(torch.randn(3, 5, device=device), torch.tensor([1, 0, 4], device=device)).shape)
