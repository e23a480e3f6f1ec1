"""The modules of scripts/, for tests: the repository's root is not on sys.path, so they are loaded by their files."""

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Final

_SCRIPTS: Final = Path(__file__).resolve().parent.parent / "scripts"


def script(name: str) -> ModuleType:
    """`scripts/NAME.py`, run once more."""
    spec = importlib.util.spec_from_file_location(name, _SCRIPTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
