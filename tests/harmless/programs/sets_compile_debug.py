"""Sets TORCH_COMPILE_DEBUG itself: torch writes its own files, and its logs beside them."""

import os

os.environ["TORCH_COMPILE_DEBUG"] = "1"

import torch  # noqa: E402

x = torch.ones(3, requires_grad=True)
torch.compile(lambda x: torch.softmax(x, -1) * 2)(x).sum().backward()
print(x.grad)
