"""What the tests of docs/dump.md share."""

from types import ModuleType

import pytest

from tests.scripted import script


@pytest.fixture(scope="session")
def dump_reference() -> ModuleType:
    """What writes them."""
    return script("dump_reference")
