"""The entry of the package: relative imports, its own name and arguments, and what it looks like from inside."""

import sys

import torch

from . import model

print(__name__, __package__, __spec__ is not None and __spec__.name, sys.argv[1:])
print(model.Net.__module__, torch.compile(model.Net())(torch.ones(2, 4)).shape)
sys.exit(len(sys.argv))
