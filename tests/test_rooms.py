"""Each folder of the product says what it holds and what it may not know, and is small enough to be looked over."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MOST_MODULES = 25
NO_PACKAGE = {"inspector/child/bootstrap"}
"""Goes on PYTHONPATH."""
BOUNDARY = re.compile(
    r"\bmay not know\b|\bknow(?:s|ing)? (?:neither|nothing|of no)\b|\b(?:no probe|no other room) may know\b",
    re.IGNORECASE,
)


def folders() -> dict[str, list[str]]:
    """The names of the modules in each folder of the product."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "inspector", "lowering", "codegen", "tui"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found: dict[str, list[str]] = {}
    for path in (Path(name) for name in listed if name.endswith(".py") and (ROOT / name).exists()):
        found.setdefault(str(path.parent), []).append(path.stem)
    return {folder: names for folder, names in found.items() if folder not in NO_PACKAGE}


FOLDERS = folders()


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_it_says_what_it_holds_and_what_it_may_not_know(folder: str) -> None:
    text = (ROOT / folder / "__init__.py").read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    assert re.match(r"[A-Z].*[.:]", said), f"{folder}/__init__.py does not say what the folder holds"
    assert BOUNDARY.search(said), f"{folder}/__init__.py does not say what the folder may not know"


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_it_can_be_looked_over(folder: str) -> None:
    names = [name for name in FOLDERS[folder] if name != "__init__"]
    assert len(names) <= MOST_MODULES, f"{folder} holds {len(names)} modules; move some into a room of their subject"
