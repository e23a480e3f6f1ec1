"""Prints whatever a compile leaves behind in a process: counters, random states, logging, signals, open files."""

import gc
import logging
import os
import random
import signal
import sys
import threading
import warnings
from pathlib import Path

import torch
from torch._dynamo.utils import counters
from torch._inductor import config, metrics

torch.manual_seed(0)
random.seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.GELU(), torch.nn.LayerNorm(8))
x = torch.randn(2, 4)
torch.compile(net)(x).sum().backward()

print(torch.rand(1).item(), random.random(), torch.initial_seed())
print({name: dict(counted) for name, counted in counters.items()})
print({name: value for name, value in sorted(vars(metrics).items()) if isinstance(value, int | list | set)})
print(sorted(config.save_config_portable().items(), key=str))
print(torch._dynamo.config.get_hash(), torch._inductor.config.get_hash())
print([(name, logging.getLogger(name).level, logging.getLogger(name).handlers) for name in ("", "torch")])
# torch's pool for compilers is there if a kernel was not.
print([thread.name for thread in threading.enumerate() if "ThreadPool" not in thread.name])
print(len(gc.garbage), gc.get_threshold(), gc.isenabled())
print([signal.getsignal(number) for number in sorted(signal.valid_signals())])
print(sys.getrecursionlimit(), sys.getswitchinterval(), len(warnings.filters), sys.gettrace(), sys.getprofile())
paths = [Path(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
print(sorted(str(path.readlink()).partition(":")[0] for path in paths if path.exists()))
print(os.getcwd(), sorted(os.environ.items()), os.umask(0), sys.argv, sys.orig_argv, sys.path)
print(torch._guards.CompileContext.current_compile_id(), torch.is_grad_enabled(), torch.get_default_dtype())
