"""A recorded dump, the same each time."""

import shutil
from pathlib import Path

import pytest
from textual.widgets import Input

from inspect_compile.dump import Dump
from tests.tui.driving import PROGRAM, RECORDED


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with the recorded program in it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROGRAM, tmp_path / PROGRAM.name)
    return tmp_path


@pytest.fixture
def mixed(here: Path) -> Dump:
    """The recorded dump, in the current directory."""
    shutil.copytree(RECORDED, here / "mixed")
    return Dump(Path("mixed"))


@pytest.fixture(autouse=True)
def _steady_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cursor that blinks makes two pictures of one screen."""
    monkeypatch.setattr(Input, "cursor_blink", False)
