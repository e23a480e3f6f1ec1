"""Standard streams that are closed, or on a full disk: one line, never a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile import dumps
from tests.running import COMMAND

WORDS = (
    ("--help",),
    ("show", "dump"),
    ("show", "dump", "nodes", "--json"),
    ("why", "dump", "add"),
    ("draw", "dump"),
)
FULL = "inspect-compile: the output cannot be written: No space left on device\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    return tmp_path


def ended(words: tuple[str, ...], streams: str, folder: Path) -> tuple[int, str]:
    """The status of a command whose streams a shell has redirected, and what it says on stderr where that is open."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {streams}', "sh", *COMMAND, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_a_full_disk_is_told_in_one_line(words: tuple[str, ...], folder: Path) -> None:
    status, told = ended(words, ">/dev/full", folder)

    assert (status in (2, 125), told) == (True, FULL)
    assert ended(words, "2>/dev/full", folder)[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_closed_streams_take_nothing(words: tuple[str, ...], folder: Path) -> None:
    assert ended(words, ">&-", folder) == (0, "")
    assert ended(words, "<&- >&- 2>&-", folder) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
def test_an_error_that_cannot_be_told_has_its_status(folder: Path) -> None:
    for streams in ("2>/dev/full", "2>&-"):
        assert ended(("show", "nowhere"), streams, folder) == (2, "")
