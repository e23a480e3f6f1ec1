"""Fragments of the changelog are well-formed, and towncrier makes entries of them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "changelog.d"
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
NAME = re.compile(rf"(\d+|\+[a-z0-9-]+)\.({'|'.join(CONFIG['fragment'])})\.md")
LONGEST = 400


def faults(name: str, text: str) -> list[str]:
    """What is wrong with a fragment."""
    return [
        told
        for told, is_so in (
            ("its name is not ISSUE.KIND.md or +WORDS.KIND.md", not NAME.fullmatch(name)),
            ("it is empty", not text.strip()),
            ("it is not one line that ends with a line break", text.strip() + "\n" != text or text.count("\n") > 1),
            ("it is no sentence", not text.strip().endswith(".")),
            ("it is a list", text.startswith(("-", "*", "#"))),
            (f"it is longer than {LONGEST} characters", len(text) > LONGEST),
        )
        if is_so
    ]


FRAGMENTS = sorted(path for path in FOLDER.iterdir() if path.name != "README.md")


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda path: path.name)
def test_a_fragment_is_well_formed(fragment: Path) -> None:
    assert faults(fragment.name, fragment.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("50.md", "A sentence.\n"),
        ("50.news.md", "A sentence.\n"),
        ("Some words.added.md", "A sentence.\n"),
        ("50.added.md", ""),
        ("50.added.md", "A sentence."),
        ("50.added.md", "A sentence.\nAnother.\n"),
        ("50.added.md", "no sentence\n"),
        ("50.added.md", "- A sentence.\n"),
        ("50.added.md", f"A{'n' * LONGEST}.\n"),
    ],
)
def test_a_fragment_that_is_not_is_found(name: str, text: str) -> None:
    assert faults(name, text)


def test_fragments_become_the_entries_of_a_version(tmp_path: Path) -> None:
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "50.fixed.md").write_text("`show` says so.\n")
    (tmp_path / "changelog.d" / "+other.added.md").write_text("A table of all.\n")
    (tmp_path / "changelog.d" / "README.md").write_text("No fragment.\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    (tmp_path / "CHANGELOG.md").write_text((ROOT / "CHANGELOG.md").read_text())

    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.8.7", "--date", "2026-11-28"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    text = (tmp_path / "CHANGELOG.md").read_text()
    assert text.index("## 9.8.7 (2026-11-28)") < text.index("## 0.1.0")
    assert text.index("### Added\n\n- A table of all.\n") < text.index("### Fixed\n\n- `show` says so. (#50)\n")
    assert [path.name for path in (tmp_path / "changelog.d").iterdir()] == ["README.md"]
