"""sys.exit in a thread that compiles ends the thread; the program goes on, and ends with a status of its own."""

import sys
import threading

import torch


@torch.compile
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def work() -> None:
    print(double(torch.ones(3)).tolist())
    sys.exit(3)


thread = threading.Thread(target=work)
thread.start()
thread.join()
print(double(torch.ones(4)).sum().item())
sys.exit(4)
