"""What torch_compat says of private names, held against the torch that is installed."""

import importlib
import pkgutil
from collections.abc import Iterator

import pytest
import torch

from inspect_compile import torch_compat
from inspect_compile.torch_compat import Name


def names() -> Iterator[Name]:
    for found in pkgutil.iter_modules(torch_compat.__path__, f"{torch_compat.__name__}."):
        for value in vars(importlib.import_module(found.name)).values():
            yield from (name for name in (value if type(value) is tuple else (value,)) if isinstance(name, Name))


def version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")[:2]))


def covers(name: Name, torch_version: str) -> bool:
    """Do the versions of `name`, `2.11-2.15`, hold this one?"""
    first, _, last = name.versions.partition("-")
    return version(first) <= version(torch_version) <= version(last or first)


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


def test_versions_are_compared_as_numbers() -> None:
    name = Name("module", "attribute", "2.9-2.11", "a test")
    assert [covers(name, text) for text in ("2.8.1", "2.9.0", "2.10.0+cpu", "2.11.1", "2.12.0")] == [
        False,
        True,
        True,
        True,
        False,
    ]
