"""What torch_compat says of private names, held against the torch that is installed."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from inspect_compile.torch_compat import Name
from tests.private_names import covers, names


def resolves(name: Name) -> bool:
    try:
        found = importlib.import_module(name.module)
        for part in name.attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("name", list(names()), ids=str)
def test_a_name_is_there_in_the_versions_that_it_was_seen_in_and_in_no_other(name: Name) -> None:
    assert resolves(name) == covers(name, torch.__version__), f"{name.versions}, here is torch {torch.__version__}"


@pytest.mark.parametrize("name", list(names()), ids=str)
def test_a_name_says_why_it_is_needed(name: Name) -> None:
    assert len(name.reason) > 10


def test_every_name_stands_once() -> None:
    every = [str(name) for name in names()]
    assert len(every) > 40
    assert sorted(set(every)) == sorted(every)


def private(tree: ast.AST) -> Iterator[str]:
    """The private names of torch that a module imports, or reaches as attributes of `torch`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module == "torch" or module.startswith("torch."):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.Import():
                yield from (alias.name for alias in node.names if alias.name.startswith("torch."))
            case ast.Attribute():
                dotted = ast.unparse(node)
                if dotted.startswith("torch."):
                    yield dotted


@pytest.mark.parametrize("room", ["inspector", "lowering", "codegen"])
def test_no_module_reaches_a_private_name_that_is_not_told_here(room: str) -> None:
    told = {str(name) for name in names()}
    unknown: set[str] = set()
    modules = sorted((Path(__file__).parents[2] / room).rglob("*.py"))
    for path in modules:
        for name in private(ast.parse(path.read_text(encoding="utf-8"))):
            parts = name.split(".")
            is_private = any(part.startswith("_") and not part.endswith("__") for part in parts)
            if not is_private or parts[1] == "ops":
                continue
            starts = {".".join(parts[:count]) for count in range(2, len(parts) + 1)}
            if not starts & told and not any(known.startswith(f"{name}.") for known in told):
                unknown.add(f"{path.name}: {name}")
    assert modules
    assert not unknown


def test_versions_are_compared_as_numbers() -> None:
    name = Name("module", "attribute", "2.9-2.11", "a test")
    assert [covers(name, text) for text in ("2.8.1", "2.9.0", "2.10.0+cpu", "2.11.1", "2.12.0")] == [
        False,
        True,
        True,
        True,
        False,
    ]
