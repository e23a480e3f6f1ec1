"""Puts something in the place of a name of torch, until the process ends."""

import importlib
from typing import Any

from inspect_compile.torch_compat import Name


def now(name: Name) -> Any:
    """What `name` is."""
    owner, last = _owner(name)
    return getattr(owner, last)


def replace(name: Name, value: Any) -> None:
    """From now on `name` is `value`."""
    setattr(*_owner(name), value)


def _owner(name: Name) -> tuple[Any, str]:
    owner: Any = importlib.import_module(name.module)
    *outer, last = name.attribute.split(".")
    for attribute in outer:
        owner = getattr(owner, attribute)
    return owner, last
