"""All descriptors are used up while it compiles: `python has_no_descriptors.py LIMIT UNTIL`.

LIMIT is lowered for good (hard), or can be raised again (soft). It lasts for a while, or to the end; then code may have
been generated before. What generates code needs files itself: that compile fails, alone as well.
"""

import os
import resource
import sys

import torch


def scaled(x: torch.Tensor, by: int) -> torch.Tensor:
    return (x.cos() * by).sum()


def compiled(by: int, backend: str) -> str:
    torch.compiler.reset()
    try:
        return str(torch.compile(scaled, backend=backend)(torch.ones(3), by).item())
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


limit, until = sys.argv[1:]
print(compiled(2, "aot_eager"), flush=True)
if until == "end-generated":
    print(compiled(3, "inductor"), flush=True)
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64 if limit == "hard" else most))
kept = []
try:
    while True:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(error.strerror, flush=True)
print(compiled(4, "aot_eager"), flush=True)
print(compiled(5, "inductor"), flush=True)
if until == "while":
    for descriptor in kept:
        os.close(descriptor)
    print(compiled(6, "inductor"), flush=True)
