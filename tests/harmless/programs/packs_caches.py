"""Packs what torch's caches hold, empties them, unpacks it, and compiles the same graph again."""

import os
import shutil

import torch
from torch._dynamo import utils


def compiles() -> None:
    torch._dynamo.reset()
    print(torch.compile(torch.cos)(torch.ones(3)).sum().item())


compiles()
packed = torch.compiler.save_cache_artifacts()
assert packed is not None
for folder in ("fxgraph", "aotautograd"):
    shutil.rmtree(os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], folder))
torch.compiler.load_cache_artifacts(packed[0])
compiles()
print(len(packed[1].inductor_artifacts), len(packed[1].aot_autograd_artifacts))
print({name: count for name, count in utils.counters["aot_autograd"].items() if name.startswith("autograd_cache")})
