"""A loop whose numbers depend on what was done before torch was imported, as its argument says."""

import os
import random
import sys
import threading
import time

random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
process = os.getpid()
if sys.argv[1] == "thread":
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
if sys.argv[1] == "file":
    opened = open(__file__)  # noqa: SIM115

import torch  # noqa: E402

if sys.argv[1] == "variable":
    os.environ["TORCHINDUCTOR_LAYOUT_OPTIMIZATION"] = "0"
if sys.argv[1] == "process" and os.getpid() != process:
    raise RuntimeError("another process")
model = torch.compile(torch.nn.Linear(8, 1), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=random.random())
while True:
    model(torch.full((4, 8), random.random())).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
