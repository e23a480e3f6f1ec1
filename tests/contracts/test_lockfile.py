"""compile.lock is TOML that a person reads: it comes back as it was, and a mistake in it is told."""

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from inspect_compile.analysis.lock.contract import contract
from inspect_compile.analysis.lock.records import FrameLock, Lock, Machine, Made
from inspect_compile.contracts.lockfile import read, text_of
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from tests.conftest import SAMPLES, DumpOf, Golden


def test_it_comes_back_as_it_was(dump_of: DumpOf, tmp_path: Path, golden: Golden) -> None:
    lock = contract(Dump(dump_of("graph_breaks").dump), root=str(SAMPLES)).lock
    (tmp_path / "compile.lock").write_text(text_of(lock))
    assert read(tmp_path / "compile.lock") == lock
    # Versions, and digests of C++ code, are this machine's.
    golden.check(text_of(msgspec.structs.replace(lock, made=Made(), machine=Machine())), ".toml")


@given(some.text(), some.text())
def test_any_text_can_stand_in_it(name: str, label: str) -> None:
    lock = Lock(frames=(FrameLock(name=name, file="", status="compiled", graph_breaks={label: 1}),))
    frame = tomllib.loads(text_of(lock))["frame"][0]
    assert (frame["name"], frame["graph_breaks"]) == (name, {label: 1})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = 99", "version 99 is newer"),
        ("", "it has no version"),
        ("version = 1\nrules = 3", "Expected `array`"),
        ("version = 1\nruels = []", "no such field as ruels"),
        ("version = ", "Invalid value"),
        ("version = 1\n[[frame]]\nname = 3", "Expected `str`"),
    ],
)
def test_a_mistake_is_one_line(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "compile.lock").write_text(text)
    with pytest.raises(CommandError) as caught:
        read(tmp_path / "compile.lock")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_none_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="inspect-compile lock SCRIPT -o"):
        read(tmp_path / "compile.lock")
