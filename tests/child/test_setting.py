"""The variable that tells each process of a run where it belongs."""

import os

import pytest

from inspect_compile.child.setting import BOOTSTRAP, VARIABLE, Setting, python_path_without_bootstrap


def setting(python_path: str | None) -> Setting:
    return Setting(root="/d", pid=1, python_path=python_path, plain=False, run={"graphs": 3})


def test_it_survives_the_environment() -> None:
    before = setting("a\udcff")
    assert vars(Setting.decode(before.encode())) == vars(before)


def test_of_a_long_command_the_first_words_are_passed_on() -> None:
    words = [f"data/file_{number:06d}.bin" for number in range(8000)]
    long = Setting(root="/d", pid=1, python_path=None, plain=True, argv=words, words=words)
    assert len(long.encode()) < 4000
    kept = Setting.decode(long.encode()).words or []
    assert kept[:-1] == words[: len(kept) - 1]
    assert (len(kept) > 30, kept[-1]) == (True, "…")
    assert Setting(root="/d", pid=1, python_path=None, plain=True, words=["x" * 5000]).words == ["…"]


@pytest.mark.parametrize("path", [None, "", "a", f"a{os.pathsep}{os.pathsep}b"])
def test_the_door_stands_in_front_of_the_users_path(path: str | None) -> None:
    base = {"X": "1"} if path is None else {"X": "1", "PYTHONPATH": path}
    inside = setting(path).environment(base)
    assert inside["PYTHONPATH"].split(os.pathsep) == [BOOTSTRAP, *(path.split(os.pathsep) if path else [])]
    assert python_path_without_bootstrap(inside) == path
    del inside[VARIABLE]
    assert python_path_without_bootstrap(inside) == (path or None)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"root": 1, "other": 2}'])
def test_nonsense_is_an_error_that_the_door_expects(text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        Setting.decode(text)
