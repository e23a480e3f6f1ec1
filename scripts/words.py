"""The sentences that a person can see, room by room, so that they can be read in a row: `make words`.

python scripts/words.py [ROOM ...]   for example inspector/tables, or tui

A room is a folder with all modules below it. The sentences are the strings of the code that have several words;
docstrings, patterns and texts for programs are left out. `{}` stands for what is put in. tests/test_words.py looks in
the same sentences for what CONTRIBUTING bans.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parent.parent
PARTS: Final = ("inspector", "lowering", "codegen", "tui")
NOT_FOR_READERS: Final = ("inspector/torch_compat/",)
"""Reasons for private names of torch, which only developers read."""

_PROSE: Final = re.compile(r"[A-Za-z{}][\w{}'’-]*[,;:.]? +(?:[a-zA-Z]{2,}|a\b|\{\})")
"""Two words beside each other."""
_FOR_PROGRAMS: Final = re.compile(
    r"^\s*(?:[#.@<]|import |from \w+ import|def |return |SELECT |\{[\"%]|torch\.|aten\.)"
    r"|[\\^$][sdwbnA-Z(\[]|\(\?|\|\w+\||</|;\}"
)
"""What is code, a style sheet, a pattern or markup."""
_PATTERNS: Final = frozenset({"compile", "match", "fullmatch", "search", "sub", "findall", "finditer", "split"})


class Sentence(NamedTuple):
    """One string of the code."""

    file: str
    """Relative to the checkout."""
    line: int
    text: str


def strings(source: str) -> Iterator[tuple[int, str]]:
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
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PATTERNS:
            is_pattern = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            skipped |= {id(argument) for argument in node.args} if is_pattern else set()
        skipped |= {id(part) for annotation in _annotations(node) for part in ast.walk(annotation)}
        if isinstance(node, ast.Assert) and node.msg is not None:
            skipped |= {id(part) for part in ast.walk(node.msg)}
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


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
        yield node.returns
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation


def is_prose(text: str) -> bool:
    """False for code, patterns and single words."""
    return _PROSE.search(text) is not None and _FOR_PROGRAMS.search(text) is None


def sentences(rooms: Iterable[str] = PARTS) -> Iterator[Sentence]:
    """All that can be seen of these rooms, by file and line; each text once in a file."""
    for room in rooms:
        place = ROOT / room
        for path in sorted(place.rglob("*.py")) if place.is_dir() else (place,):
            name = path.relative_to(ROOT).as_posix()
            if name.startswith(NOT_FOR_READERS):
                continue
            found = sorted(strings(path.read_text(encoding="utf-8")))
            once = {text: line for line, text in reversed(found) if is_prose(text)}
            yield from (Sentence(name, line, text) for text, line in sorted(once.items(), key=lambda one: one[1]))


def main(rooms: list[str]) -> None:
    """Print them."""
    file = ""
    for found in sentences(rooms or PARTS):
        if found.file != file:
            file = found.file
            print(f"\n{file}")
        print(f"{found.line:5}  " + found.text.strip("\n").replace("\n", "\n       "))


if __name__ == "__main__":
    main(sys.argv[1:])
