"""A daemon thread that ends the process with exit code 7 where it takes too long to end by itself."""

import os
import sys
import threading
import time

import torch


def watch() -> None:
    threading.main_thread().join()
    time.sleep(float(sys.argv[1]))
    print("it is still there", flush=True)
    os._exit(7)


print(torch.compile(torch.cos)(torch.ones(3)).sum().item(), flush=True)
threading.Thread(target=watch, daemon=True).start()
