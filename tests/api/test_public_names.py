"""What docs/api.md promises is there, and nothing else is public."""

import inspect
import re
from pathlib import Path

import inspect_compile
from inspect_compile import Recording
from inspect_compile.child.capture import Capture
from inspect_compile.dump import Dump

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
TABLE = TEXT.partition("## The names")[2].partition("\n## ")[0]
OF_DUMP = {"graphs", "refresh"}
"""What is promised of the class that reads any dump; the rest of it is our own."""


def documented(owner: str) -> dict[str, list[str]]:
    """Name → its parameters, of the rows that begin with `owner.`."""
    rows = re.findall(rf"^\| `{owner}\.(\w+)(?:\(([^)]*)\))?`", TABLE, re.MULTILINE)
    return {name: [word.strip("* ") for word in words.split(",") if word] for name, words in rows}


def parameters(function: object) -> list[str]:
    assert callable(function)
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_package_has_the_documented_names() -> None:
    names = documented("inspect_compile")
    assert sorted(names) == sorted(inspect_compile.__all__)
    assert all(hasattr(inspect_compile, name) for name in names)
    for name in ("capture", "install", "open_dump"):
        assert parameters(getattr(inspect_compile, name)) == names[name], name


def test_a_recording_has_the_documented_names() -> None:
    names = documented("Recording")
    own = {name for kind in (Recording, Capture) for name in vars(kind) if not name.startswith("_")} - {"nothing"}
    assert set(names) == own | OF_DUMP
    assert all(hasattr(Dump, name) for name in OF_DUMP)
    for name in ("findings", "table", "tables"):
        assert parameters(getattr(Recording, name)) == names[name], name


def test_each_has_a_docstring() -> None:
    kinds = [getattr(inspect_compile, name) for name in inspect_compile.__all__ if name != "__version__"]
    members = [getattr(Recording, name) for name in documented("Recording")]
    assert [one for one in (*kinds, *members) if not inspect.getdoc(one)] == []


def test_the_magic_has_the_documented_options() -> None:
    from inspect_compile.api.magic import _parser

    options = {option for action in _parser()._actions for option in action.option_strings}
    assert options == set(re.findall(r"`(-\w|--[\w-]+)\b", TEXT.partition("| option | |")[2].partition("\n\n")[0]))
