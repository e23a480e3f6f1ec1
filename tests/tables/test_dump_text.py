"""Where there is no dump, a command says what is there and what to do; the room of the dump says only the former."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest

from inspect_compile.commands import main
from inspect_compile.commands.program import BEFORE_START
from inspect_compile.dump import open_dump
from inspect_compile.errors import DumpError, DumpProblem
from inspect_compile.tables.dump_text import ADVICE, advised

DUMP = Path(__file__).resolve().parents[2] / "inspector" / "dump"


def test_each_problem_has_its_advice() -> None:
    assert set(ADVICE) == set(get_args(DumpProblem))


@pytest.mark.parametrize("module", sorted(path.name for path in DUMP.glob("*.py")))
def test_the_room_of_the_dump_names_no_command_and_no_option(module: str) -> None:
    tree = ast.parse((DUMP / module).read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [text for text in texts if re.search(r"inspect-compile [a-z]|--[a-z]+ [A-Z]", text)] == []


def test_what_is_there_and_what_to_type_next(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    with pytest.raises(DumpError) as error:
        open_dump(gone)
    assert str(error.value).startswith(f"{gone}: no such dump")
    assert advised(error.value).endswith("; `inspect-compile run SCRIPT` makes one")
    assert advised(DumpError("taken", "holds a dump already", "d")) == (
        "d: holds a dump already; name a new directory, or look at this one: inspect-compile show d"
    )


def test_a_command_says_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["show"]) == 2
    assert capsys.readouterr().err == (
        "inspect-compile: no dump below the current directory; `inspect-compile run SCRIPT` makes one, "
        "or name one: `inspect-compile show DUMP`\n"
    )
    (tmp_path / "script.py").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    assert main(["run", "--dump", "full", "script.py"]) == BEFORE_START
    assert capsys.readouterr().err.endswith("not empty, and not a dump (letter is in it); name a new directory\n")
