"""A dump that lacks a table of its run: what compares it says so, and tells no difference."""

from pathlib import Path

import msgspec
import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Writer
from inspect_compile.dump.wholeness import table_sizes
from tests.handmade import ended, graph, made

INCOMPLETE = "this dump is not complete: graphs.jsonl is missing or cut short; copy it again"


@pytest.fixture
def dumps(tmp_path: Path) -> tuple[Path, Path]:
    """A whole dump, and one without its graphs."""
    for name in ("whole", "broken"):
        dump = made(tmp_path / name, graph(), ended())
        Writer(dump.root).run(msgspec.structs.replace(dump.run, tables=table_sizes(dump.root)))
    (tmp_path / "broken" / "graphs.jsonl").unlink()
    return tmp_path / "whole", tmp_path / "broken"


def test_it_is_compared_with_nothing(
    dumps: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, broken = map(str, dumps)
    lock = str(tmp_path / "compile.lock")
    assert main(["lock", whole, "-o", lock]) == 0
    assert main(["check", whole, "--lock", lock]) == 0
    assert main(["diff", whole, whole]) == 0
    capsys.readouterr()

    for words in (
        ("lock", broken, "-o", str(tmp_path / "other.lock")),
        ("check", broken, "--lock", lock),
        ("diff", whole, broken),
        ("diff", broken, whole, "--kernels"),
        ("why", broken, "a"),
        ("draw", broken),
    ):
        assert main(list(words)) == 2
        assert capsys.readouterr().err == f"inspect-compile: {broken}: {INCOMPLETE}\n"
