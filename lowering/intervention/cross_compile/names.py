"""Puts something in the place of a name of torch, until the process ends."""

import importlib
from typing import Any

from inspect_compile.torch_compat import Name


def replace(name: Name, value: Any) -> None:
    """From now on `name` is `value`."""
    owner: Any = importlib.import_module(name.module)
    *outer, last = name.attribute.split(".")
    for attribute in outer:
        owner = getattr(owner, attribute)
    setattr(owner, last, value)
