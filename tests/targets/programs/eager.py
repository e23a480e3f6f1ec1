"""Forward with dropout, loss, backward; prints what came out to the bit, and what the program can see of itself."""

import hashlib
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.3), torch.nn.Linear(288, 16)
)
step = torch.compile(net, backend=sys.argv[1])
out = step(torch.randn(4, 3, 8, 8))
out.square().sum().backward()


def digest(tensor: torch.Tensor) -> str:
    """Of its bytes."""
    return hashlib.sha256(tensor.detach().numpy().tobytes()).hexdigest()[:16]


print("out", digest(out), *(digest(parameter.grad) for parameter in net.parameters() if parameter.grad is not None))
print("rng", digest(torch.get_rng_state()))
print("cuda", torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized())
print("triton", "triton" in sys.modules, "inspect_compile.lowering.shadow.guise" in sys.modules)
print("graphs", torch._dynamo.utils.counters["stats"]["unique_graphs"])
