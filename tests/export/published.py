"""Model Explorer's own description of its files, and whether something is one of them."""

import dataclasses
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

PUBLISHED = Path(__file__).parents[1] / "data" / "model_explorer"


def module(name: str) -> ModuleType:
    """A module of the package, from its text: all that it imports of its own is a helper for writing."""
    text = (PUBLISHED / f"{name}.py.txt").read_text(encoding="utf-8")
    found = ModuleType(f"published_{name}")
    sys.modules[found.__name__] = found  # dataclasses look their module up
    exec(compile(text.replace("from .utils import remove_none\n", ""), name, "exec"), found.__dict__)
    return found


def read(data: bytes, kind: type) -> Any:
    """The record of that kind; fails where the data has another type, or a field that the kind does not have."""
    given = json.loads(data)
    found: Any = msgspec.convert(given, type=kind, strict=True)
    _same(given, found, kind.__name__)
    return found


def _same(given: Any, found: Any, where: str) -> None:
    if dataclasses.is_dataclass(found):
        names = {one.name for one in dataclasses.fields(found)}
        assert set(given) <= names, f"{where}: no such fields as {set(given) - names}"
        for name, value in given.items():
            _same(value, getattr(found, name), f"{where}.{name}")
    elif isinstance(given, list):
        for one, other in zip(given, found, strict=True):
            _same(one, other, f"{where}[]")
    elif isinstance(given, dict):
        for name, value in given.items():
            _same(value, found[name], f"{where}[{name!r}]")
    else:
        assert given == found, where
