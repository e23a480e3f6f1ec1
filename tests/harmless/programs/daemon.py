"""A daemon: forked twice, in a session of its own, it compiles when its parents have ended: `python daemon.py WHO`.

WHO has compiled before: the `parent`, without Inductor, whose threads do not live on in a fork, or `nobody`.
"""

import os
import sys

import torch


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 3 + 1


if sys.argv[1] == "parent":
    print(torch.compile(torch.cos, backend="aot_eager")(torch.ones(2)).tolist(), flush=True)
first, (ended, lives) = os.getpid(), os.pipe()
child = os.fork()
if child:
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.exit(3)
os.setsid()
if os.fork():
    os._exit(4)
os.close(lives)
os.read(ended, 1)
print(os.getppid() not in (first, child), scaled(torch.ones(3)).tolist(), flush=True)
with open("daemon.txt", "w") as file:
    file.write(str(scaled(torch.ones(4)).tolist()))
