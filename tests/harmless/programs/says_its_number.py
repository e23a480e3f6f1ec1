"""Says which of several starts it is; with a second argument it compiles a graph that holds the number."""

import sys

number = int(sys.argv[1])
if sys.argv[2:]:
    import torch

    print(torch.compile(lambda x: x * float(number))(torch.ones(3)).sum().item())
print("start", number)
