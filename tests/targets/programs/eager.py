"""Forward with dropout, loss, backward, a compiled optimizer; prints what came out to the bit, and what the program can see of itself."""

import hashlib
import re
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Dropout(0.3), torch.nn.Linear(288, 16)
)
step = torch.compile(net, backend=sys.argv[1])
out = step(torch.randn(4, 3, 8, 8))
out.square().sum().backward()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
torch.compile(optimizer.step, backend=sys.argv[1])()


def digest(tensor: torch.Tensor) -> str:
    """Of its bytes."""
    return hashlib.sha256(tensor.detach().numpy().tobytes()).hexdigest()[:16]


print("out", digest(out), *(digest(parameter.grad) for parameter in net.parameters() if parameter.grad is not None))
print("updated", *map(digest, net.parameters()))
print("rng", digest(torch.get_rng_state()))
print("cuda", torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.is_initialized())
print("triton", "triton" in sys.modules, "inspect_compile.lowering.intervention.cross_compile.fake_cuda" in sys.modules)
print("graphs", sorted((kind, *counter.items()) for kind, counter in torch._dynamo.utils.counters.items()))
print("names", sorted(re.sub("_[0-9a-f_]{12,}", "", name) for name in vars(sys.modules["torch.optim.sgd"])))
print("names there", torch._dynamo.utils.CleanupManager.count, torch._dynamo.bytecode_transformation._unique_id_counter)
