"""The analyses know no command: what they find, or do not, is put into words by those who show it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from inspect_compile.analysis.lookup.answer import Kind
from inspect_compile.tables.lookup_text import WORDS

ROOT = Path(__file__).resolve().parents[2] / "inspector" / "analysis"
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
OF_COMMANDS = re.compile(r"--[a-z]|inspect-compile |\b(?:show|why|draw|attribute) \{|\bDUMP\b")
FIGURE_OF_A_SOURCE = {"--measure", "--measure, first call"}
"""Where a time comes from: values of a field, and the option's name is the term for them."""


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and text of each string, f-strings with `{` for what is put in; without docstrings and annotations."""
    notes = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    parts = {id(value) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for value in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            told = (str(part.value) if isinstance(part, ast.Constant) else "{" for part in node.values)
            yield node.lineno, "".join(told)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in notes | parts:
            yield node.lineno, node.value


@pytest.mark.parametrize("module", MODULES)
def test_an_analysis_names_no_command_and_no_option(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    found = [f"{line}: {text}" for line, text in texts(tree) if OF_COMMANDS.search(text)]
    assert [one for one in found if one.partition(": ")[2] not in FIGURE_OF_A_SOURCE] == []


@pytest.mark.parametrize("module", MODULES)
def test_an_analysis_raises_nothing_for_the_user(module: str) -> None:
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert "CommandError" not in imported


def test_each_kind_of_answer_has_its_words() -> None:
    assert set(WORDS) == set(get_args(Kind))
