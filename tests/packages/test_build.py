"""Two builds of a commit are equal to the byte, and the sdist holds the checkout."""

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

pytest.importorskip("build", reason="of the extra `test`")

ROOT = Path(__file__).resolve().parents[2]
MADE = {"PKG-INFO", "setup.cfg"}
"""What setuptools adds to an sdist, beside its folder of metadata."""


def built(folder: Path, umask: int, timezone: str) -> list[Path]:
    words: list[str | Path] = [sys.executable, ROOT / "scripts" / "build_packages.py", "--no-isolation", "-o", folder]
    variables = {**os.environ, "TZ": timezone}
    variables.pop("SOURCE_DATE_EPOCH", None)
    done = subprocess.run(words, env=variables, umask=umask, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Path(line) for line in done.stdout.split()]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[Path]]:
    folder = tmp_path_factory.mktemp("packages")
    return built(folder / "one", 0o022, "UTC"), built(folder / "two", 0o077, "Asia/Tokyo")


def test_two_builds_are_equal(both: tuple[list[Path], list[Path]]) -> None:
    one, two = ({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths} for paths in both)
    assert {Path(name).suffix for name in one} == {".gz", ".whl"}
    assert one == two


def test_the_sdist_holds_the_checkout(both: tuple[list[Path], list[Path]]) -> None:
    with tarfile.open(both[0][0]) as sdist:
        packed = {name.partition("/")[2] for name in sdist.getnames() if sdist.getmember(name).isfile()}
    listed = ["git", "ls-tree", "-r", "-z", "--name-only", "HEAD"]
    tracked = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    packed = {name for name in packed if not name.startswith("inspect_compile.egg-info/")}
    assert packed - MADE == set(tracked) - {""}
