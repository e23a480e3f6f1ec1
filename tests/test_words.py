"""Words and turns that CONTRIBUTING bans from what a person reads: texts of the program, and its documentation."""

import re
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

from tests.scripted import script

ROOT: Final = Path(__file__).parent.parent
STYLE: Final = "## How words are written"


@pytest.fixture(scope="session")
def words() -> ModuleType:
    """The catalogue."""
    return script("words")


def banned() -> re.Pattern[str]:
    """The turns that the style page lists, each in backticks, as one pattern of whole words."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(STYLE)[2].partition("\n## ")[0]
    (line,) = re.findall(r"^Banned: (.+)$", page, re.MULTILINE)
    turns = re.findall(r"`([^`]+)`", line)
    assert len(turns) > 10
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, turns))})(?![\w-])", re.IGNORECASE)


def prose(markdown: str) -> str:
    """A page without its code, whose names are torch's or those of fields, on the same lines."""
    return re.sub(r"```.*?```|`[^`\n]*`", lambda code: "\n" * code[0].count("\n"), markdown, flags=re.DOTALL)


@pytest.mark.parametrize("part", ["inspector", "lowering", "codegen", "tui"])
def test_texts_of_the_program_have_none(words: ModuleType, part: str) -> None:
    pattern = banned()
    read = list(words.sentences([part]))
    assert part in words.PARTS
    hits = [f"{one.file}:{one.line}: {hit[0]}: {one.text}" for one in read for hit in pattern.finditer(one.text)]
    assert len(read) > 50
    assert not hits, "\n".join(hits)


PAGES: Final = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_have_none(path: Path) -> None:
    if path.name == "dump.md":
        pytest.skip("written from the docstrings of facts and rows")
    pattern = banned()
    lines = prose(path.read_text(encoding="utf-8")).splitlines()
    hits = [f"{path.name}:{number}: {line}" for number, line in enumerate(lines, 1) if pattern.search(line)]
    assert not hits, "\n".join(hits)


IS_NO: Final = re.compile(
    r"(?<!there )(?<!\w)(?:is|are|was|were) no (?!longer|more\b|such\b|other\b|different\b|dot\b)\w+", re.IGNORECASE
)
"""`is no plain file`, where English has `is not a plain file`; `there is no dump` is right."""


def test_what_something_is_not_is_said_in_english(words: ModuleType) -> None:
    hits = [f"{one.file}:{one.line}: {one.text}" for one in words.sentences() if IS_NO.search(one.text)]
    assert not hits, "\n".join(hits)
    assert IS_NO.search("PATH is no plain file")
    assert not IS_NO.search("there is no dump below; it is no longer here")


def test_a_planted_turn_is_found(words: ModuleType) -> None:
    code = '"""Docstring: mend."""\nSAID = f"{1} shall be"\nNAME = "mend"\nPART = "ammendment shallow"\n'
    found = [(line, hit[0]) for line, text in words.strings(code) for hit in banned().finditer(text)]
    assert found == [(2, "shall")]
    assert banned().search(prose("It will `mend` this.")) is None
    assert banned().search(prose("You must mend this.")) is not None
