"""Compiles while a function of Python's answers as it would and notes who asks, as a test replaces it; from its second
compile on, as torch's imports ask once.
"""

import builtins
import hashlib
import json
import os
import sys
import unittest.mock
from collections import Counter
from typing import Any

import torch

REPLACED = {
    builtins: ("open", "print"),
    os: ("close", "listdir", "lseek", "mkdir", "open", "unlink", "write"),
    json: ("dumps", "loads"),
    hashlib: ("sha256",),
}
asked: Counter[str] = Counter()


def noted(module: Any, name: str) -> Any:
    plain = getattr(module, name)

    def replaced(*args: Any, **kwargs: Any) -> Any:
        asked[f"{module.__name__}.{name}"] += 1
        return plain(*args, **kwargs)

    return unittest.mock.patch.object(module, name, replaced)


@torch.compile
def f(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).relu()


f(torch.ones(8, dtype=torch.float64))
replaced = [noted(module, name) for module, names in REPLACED.items() for name in names]
for one in replaced:
    one.start()
result = f(torch.ones(8)).sum().item()
for one in replaced:
    one.stop()
print(result, sorted(asked.items()), file=sys.stdout)
