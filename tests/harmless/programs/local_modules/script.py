"""Beside it are modules with names that stand in our repository, and one of a package that we use."""

import codegen
import inspector
import lowering
import rich
import torch
import tui

print(codegen.NAME, inspector.NAME, lowering.NAME, rich.NAME, tui.NAME)
print(torch.compile(lowering.lower)(torch.ones(3)).sum().item())
