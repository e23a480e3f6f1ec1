"""What the tests of docs/dump.md share."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "dump_reference.py"


@pytest.fixture(scope="session")
def dump_reference() -> ModuleType:
    """scripts/dump_reference.py: the repository's root is not on sys.path, so that it is loaded by its file."""
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
