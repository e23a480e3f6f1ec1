"""Pickles what selective checkpointing saves: the program's function that decides it for each operator."""

import pickle
from typing import Any

from torch.fx import GraphModule

from inspect_compile.lowering.intervention.cross_compile.pickling import kernel_pickle
from inspect_compile.torch_compat.targets import CHECKPOINT_POLICY


def packed(module: GraphModule) -> bytes:
    """The functions of the checkpointed graphs in `module`, in full: the script defines most of them.

    Raises what pickle raises.
    """
    found = {
        name: part.meta[CHECKPOINT_POLICY]
        for name, part in module.named_modules()
        if isinstance(part, GraphModule) and CHECKPOINT_POLICY in part.meta
    }
    return kernel_pickle.in_full(found) if found else b""


def unpacked(data: bytes, module: GraphModule) -> None:
    """Give the graphs in `module` the functions of `packed`."""
    for name, policy in (pickle.loads(data) if data else {}).items():
        part: Any = module.get_submodule(name)
        part.meta = {**getattr(part, "meta", {}), CHECKPOINT_POLICY: policy}
