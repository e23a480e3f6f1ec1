"""Finds all modules by a finder of its own: `delegates` to Python's, or `makes` the specs itself, with a loader of its own."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path


class Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        seen.add(module.__name__)
        super().exec_module(module)


class Finder:
    def find_spec(self, name, path=None, target=None):
        if sys.argv[1] == "delegates":
            return importlib.machinery.PathFinder.find_spec(name, path, target)
        for folder in path or sys.path:
            for file in (Path(folder, *name.split(".")[-1:], "__init__.py"), Path(folder, name.split(".")[-1] + ".py")):
                if name.startswith("torch") and file.is_file():
                    return importlib.util.spec_from_file_location(name, file, loader=Loader(name, str(file)))
        return None


seen = set()
sys.meta_path.insert(0, Finder())
import torch

print(torch.compile(torch.cos)(torch.ones(3)).sum().item())
print([type(finder).__name__ for finder in sys.meta_path], len(seen) > 100, type(torch.__loader__).__name__)
