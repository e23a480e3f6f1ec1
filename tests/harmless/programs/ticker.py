"""A daemon thread that prints as long as the process lives, and one that ends what outlives its main thread for long."""

import os
import sys
import threading
import time

import torch

lock = threading.Lock()
has_ended = False
SECONDS = float(sys.argv[1])
"""Between two lines after the main thread's end: alone, the process is gone before the first of them."""


def tick() -> None:
    while True:
        with lock:
            if has_ended:
                break
            print("tick", flush=True)
        time.sleep(0.02)
    while True:
        time.sleep(SECONDS)
        print("tick after the end", flush=True)


def watch() -> None:
    threading.main_thread().join()
    time.sleep(4 * SECONDS)
    os._exit(7)


for thread in (tick, watch):
    threading.Thread(target=thread, daemon=True).start()
result = torch.compile(torch.cos)(torch.ones(3)).sum().item()
with lock:
    has_ended = True
    print(f"{result} is all", flush=True)
sys.exit(3)
