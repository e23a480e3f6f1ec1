"""What torch_compat says of private names, and which of them this torch is not said to have."""

import ast
import importlib
import importlib.util
import pkgutil
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import torch

from inspect_compile import torch_compat
from inspect_compile.facts import Hook
from inspect_compile.torch_compat import Attribute, Frame, Name
from inspect_compile.torch_compat.attributes import OPERATION_COUNT

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


def can_be_there(name: Name | Frame | Attribute) -> bool:
    """Does this build of torch have it, if its version has?"""
    is_cuda: bool = torch.backends.cuda.is_built()  # type: ignore[no-untyped-call]
    return is_cuda or not name.attribute.startswith("_cuda_")


def is_there(name: Name | Frame | Attribute) -> bool:
    """Does the torch that is installed have it?"""
    match name:
        case Name():
            try:
                name.load()
            except (ImportError, AttributeError):
                return False
            return True
        case Frame():
            return bool(functions_of(name))
        case Attribute():
            return _is_set(name)


def functions_of(frame: Frame) -> list[types.CodeType]:
    """The code of the functions that a frame is one of."""
    text = source(frame.module)
    return [code for code in _codes(compile(text, "", "exec")) if code.co_qualname == frame.attribute]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _is_set(attribute: Attribute) -> bool:
    text = source(attribute.module)
    words = {
        word
        for node in ast.walk(ast.parse(text))
        for word in (getattr(node, "attr", None), getattr(node, "name", None), getattr(node, "id", None))
    }
    # torch makes this name itself: `__{name of the method}_cache`.
    return attribute.attribute in words or (
        attribute.attribute == OPERATION_COUNT
        and 'f"__{name}_cache"' in text
        and "inner_fn_opcount" in source("torch._inductor.ir")
    )


def source(module: str) -> str:
    """The text of a module, which is not run; empty where there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return ""
    return Path(spec.origin).read_text(encoding="utf-8") if spec is not None and spec.origin is not None else ""


def astray(hooks: Iterable[Hook]) -> dict[str, str]:
    """Hooks that did not come to their end: target → state. Names that this torch can't have are left out."""
    lacking = {str(name) for name in names() if not covers(name, torch.__version__)}
    return {
        hook.target: hook.state
        for hook in hooks
        if hook.state != "closed" and not (hook.state == "missing" and hook.target in lacking)
    }
