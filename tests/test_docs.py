"""The documents' links lead somewhere, and the list of commands is complete."""

import re
from pathlib import Path

import pytest

from inspect_compile.commands import COMMANDS

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), ROOT / "changelog.d" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def anchors(document: Path) -> set[str]:
    """The fragments that GitHub makes of the headings of `document`."""
    headings = re.findall(r"^#+ +(.+)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_a_file_and_a_heading(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", document.read_text())
    for path, fragment in targets:
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), f"{document.name}: {path}"
        assert not fragment or fragment in anchors(target), f"{document.name}: {path}#{fragment}"


def test_the_index_names_every_document() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    assert [path.name for path in (ROOT / "docs").glob("[!R]*.md") if f"]({path.name})" not in index] == []


def test_every_command_is_listed() -> None:
    listed = (ROOT / "docs" / "commands.md").read_text().replace("[run]", "run")
    assert [command.name for command in COMMANDS if f"inspect-compile {command.name}" not in listed] == []


def test_the_readme_fits_two_screens() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 100
