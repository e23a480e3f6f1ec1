"""Closes what it writes to, keeps a copy of it, and ends in an exception that a hook of its own tells."""

import os
import sys

import torch

kept = os.dup(1)


def hook(kind: type[BaseException], value: BaseException, _: object) -> None:
    os.write(kept, f"{kind.__name__}: {value}\n".encode())


sys.excepthook = hook
sys.unraisablehook = lambda found: None
print(torch.compile(torch.cos)(torch.ones(3)).sum().item(), flush=True)
how = sys.argv[1]
if how == "streams":
    sys.stdout.close()
    sys.stderr.close()
elif how == "descriptors":
    os.close(1)
    os.close(2)
elif how == "reused":
    os.close(1)
    os.close(2)
    for name in ("out.txt", "err.txt"):
        os.open(name, os.O_CREAT | os.O_WRONLY)
elif how == "none":
    sys.stdout = sys.stderr = None
else:
    os.closerange(3, 256)
    kept = 1
os.write(kept, f"{torch.compile(torch.sin)(torch.ones(3)).sum().item()}\n".encode())
raise LookupError("at the end")
