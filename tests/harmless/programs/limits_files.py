"""Lowers the size that files may have, once it has compiled, and dies of what is larger: `python limits_files.py BYTES`."""

import resource
import signal
import sys

import torch

compiled = torch.compile(lambda x: (x.cos() @ x.sin()).sum())
print(compiled(torch.ones(3, 3)).item(), flush=True)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
print(compiled(torch.ones(3, 3)).item() > 0, flush=True)
