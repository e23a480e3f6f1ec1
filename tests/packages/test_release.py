"""`make release` refuses what is not ready, before it builds anything."""

import subprocess
from pathlib import Path

import pytest

import inspect_compile
from tests.scripted import script

release = script("release")
ROOT = Path(__file__).resolve().parents[2]
READY = {
    "inspector/__init__.py": '"""Words."""\n\n__version__ = "1.2.3"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2026-01-02)\n\n## 1.2.2\n",
    "changelog.d/README.md": "Words.\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in READY.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "words")


def test_a_checkout_that_is_ready(checkout: Path) -> None:
    assert release.obstacles(checkout, release.declared_version(checkout)) == []


def test_the_version_stands_in_one_place() -> None:
    if (ROOT / "inspector").is_dir():
        assert release.declared_version(ROOT) == inspect_compile.__version__
    places = [(ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "setup.py", "recipe/meta.yaml")]
    assert not any(f'"{inspect_compile.__version__}"' in text for text in places)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("CHANGELOG.md", "## 1.2.2\n", "CHANGELOG.md begins with 1.2.2"),
        ("CHANGELOG.md", "", "CHANGELOG.md begins with nothing"),
        ("changelog.d/7.added.md", "A table.\n", "fragments in changelog.d: 1"),
    ],
)
def test_what_is_not_ready(checkout: Path, name: str, text: str, why: str) -> None:
    (checkout / name).write_text(text)
    assert "there are changes that are not committed" in release.obstacles(checkout, "1.2.3")
    commit(checkout)
    (found,) = release.obstacles(checkout, "1.2.3")
    assert found.startswith(why)


def test_a_version_that_is_out(checkout: Path) -> None:
    git(checkout, "tag", "v1.2.3")
    assert release.obstacles(checkout, "1.2.3") == ["there is a tag v1.2.3 already"]
