"""Words and turns that CONTRIBUTING bans from what a person reads: texts of the program, and its documentation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parent.parent
STYLE: Final = "## How words are written"
NOT_FOR_READERS: Final = ("inspector/torch_compat/",)
"""Reasons for private names of torch, which only developers read."""


def banned() -> re.Pattern[str]:
    """The turns that the style page lists, each in backticks, as one pattern of whole words."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition(STYLE)[2].partition("\n## ")[0]
    (line,) = re.findall(r"^Banned: (.+)$", page, re.MULTILINE)
    turns = re.findall(r"`([^`]+)`", line)
    assert len(turns) > 10
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, turns))})(?![\w-])", re.IGNORECASE)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of each string of Python code with a blank in it, docstrings left out; values are `{}`."""
    tree = ast.parse(source)
    skipped = {
        id(statement.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    } | {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    # A string below a statement of a class or module is the docstring of an attribute: an Expr, and left out above.
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if " " in text:
            yield node.lineno, text


def prose(markdown: str) -> str:
    """A page without its code, whose names are torch's or those of fields, on the same lines."""
    return re.sub(r"```.*?```|`[^`\n]*`", lambda code: "\n" * code[0].count("\n"), markdown, flags=re.DOTALL)


@pytest.mark.parametrize("room", ["inspector", "lowering", "codegen", "tui"])
def test_texts_of_the_program_have_none(room: str) -> None:
    pattern = banned()
    seen, hits = 0, []
    for path in sorted((ROOT / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(NOT_FOR_READERS):
            continue
        for line, text in sentences(path.read_text(encoding="utf-8")):
            seen += 1
            hits += [f"{name}:{line}: {found[0]}: {text}" for found in pattern.finditer(text)]
    assert seen > 100
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


def test_a_planted_turn_is_found() -> None:
    code = '"""Docstring: mend."""\nSAID = f"{1} shall be"\nNAME = "mend"\nPART = "ammendment shallow"\n'
    found = [(line, hit[0]) for line, text in sentences(code) for hit in banned().finditer(text)]
    assert found == [(2, "shall")]
    assert banned().search(prose("It will `mend` this.")) is None
    assert banned().search(prose("You must mend this.")) is not None
