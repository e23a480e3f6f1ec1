"""What torch_compat says of private names, and which of them this torch is not said to have."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch

from inspect_compile import torch_compat
from inspect_compile.facts import Hook
from inspect_compile.torch_compat import Attribute, Frame, Name

Kind = TypeVar("Kind", Name, Frame, Attribute)


def told(kind: type[Kind]) -> Iterator[Kind]:
    """All of one kind."""
    for found in pkgutil.iter_modules(torch_compat.__path__, f"{torch_compat.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            yield from (name for name in (value if type(value) is tuple else (value,)) if isinstance(name, kind))


def names() -> Iterator[Name]:
    """Objects that can be imported."""
    return told(Name)


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))


def covers(name: Name | Frame | Attribute, torch_version: str) -> bool:
    """Do the versions of `name`, `2.11-2.15`, hold this one?"""
    first, _, last = name.versions.partition("-")
    return version(first) <= version(torch_version) <= version(last or first)


def astray(hooks: Iterable[Hook]) -> dict[str, str]:
    """Hooks that did not come to their end: target → state. Names that this torch can't have are left out."""
    lacking = {str(name) for name in names() if not covers(name, torch.__version__)}
    return {
        hook.target: hook.state
        for hook in hooks
        if hook.state != "closed" and not (hook.state == "missing" and hook.target in lacking)
    }
