"""The main thread ends while another, which is waited for, still compiles; an interpreter within the process began and
ended before.
"""

import sys
import threading

import _xxsubinterpreters as interpreters
import torch

inner = interpreters.create()
interpreters.run_string(inner, "import sys; print('torch' in sys.modules, flush=True)")
interpreters.destroy(inner)

began = threading.Event()


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def waited_for() -> None:
    began.set()
    print(scaled(torch.ones(2)).tolist(), flush=True)
    threading.main_thread().join()
    torch._dynamo.reset()
    print(scaled(torch.ones(3)).tolist(), flush=True)


threading.Thread(target=waited_for).start()
began.wait()
sys.exit(2)
