"""`why` of memory that has two names, and of lines and nodes that no operation computes."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "two_names.py"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    folder = tmp_path_factory.mktemp("two_names")
    done = inspected([PROGRAM], folder)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def line_of(code: str) -> str:
    (number,) = (n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip().startswith(code))
    return f"two_names.py:{number}"


def words(dump: Dump, capsys: Capture, *names: str) -> str:
    assert main(["why", str(dump.root), *names]) == 0
    return " ".join(capsys.readouterr().out.split())


def story(dump: Dump, capsys: Capture, *names: str) -> dict[str, Any]:
    assert main(["why", str(dump.root), *names, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def refused(dump: Dump, capsys: Capture, *names: str) -> str:
    assert main(["why", str(dump.root), *names]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


PART, OTHER, BOTH, READER = "part =", "other =", "both =", "total ="


def test_a_part_of_a_concatenation_is_memory_of_it(dump: Dump, capsys: Capture) -> None:
    told = story(dump, capsys, line_of(PART), line_of(READER))
    (one,) = told["two_names"]
    assert (one["is_written"], one["is_read"]) == (True, True)
    assert told["common"]["buffers"] == []
    said = words(dump, capsys, line_of(PART), line_of(READER))
    assert f"op0 writes {one['a']}, and " in said
    assert f" reads {one['b']}: one memory, or a part of it, by two names." in said
    assert "No buffer is touched by both" not in said
    assert "use no tensor in common" not in said
    assert "torch would also refuse one loop for both: cat" in said


def test_two_parts_are_not_one_memory(dump: Dump, capsys: Capture) -> None:
    assert story(dump, capsys, line_of(PART), line_of(OTHER))["two_names"] == []


def test_a_concatenation_that_is_in_place_computes_none_of_its_parts(dump: Dump, capsys: Capture) -> None:
    told = story(dump, capsys, line_of(PART), line_of(BOTH))
    assert told["outcome"] == "apart"
    assert told["b"]["kind"] == "nop"
    assert story(dump, capsys, line_of(PART), line_of(OTHER))["outcome"] == "one-kernel"


def test_a_view_that_a_call_makes_is_memory_of_its_input(dump: Dump, capsys: Capture) -> None:
    told = story(dump, capsys, "view_as_complex", line_of("before ="))
    assert told["two_names"] or told["common"]["buffers"]
    rows = [row for row in dump.rows(Operation) if row.phase == "pre_fusion" and row.ir_type == "FallbackKernel"]
    first, second = rows[0].name, rows[1].name
    told = story(dump, capsys, first, second, "--graph", rows[0].graph)
    # In older versions of torch what is handed over is an element of what the call returned.
    assert told["common"]["buffers"] or [one["is_written"] for one in told["two_names"]] == [True]


def test_what_is_only_overwritten_is_not_said_to_be_read(dump: Dump, capsys: Capture) -> None:
    said = words(dump, capsys, line_of("before ="), line_of("state.fill_"))
    assert "Both read" not in said
    (one,) = story(dump, capsys, line_of("before ="), line_of("state.fill_"))["two_names"]
    assert (one["is_written"], one["is_read"]) == (False, False)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("turned =", "the pattern pointless_permute_pair took `permute`, `permute_1` out of AOTAutograd's graph"),
        ("kept =", "Dynamo's graph has `kept`, and no later graph has anything made of it on this line"),
        ("unused =", "Dynamo's graph has `unused`, which nothing reads, and no later graph has it"),
        ("scaled =", "the pattern mul_softmax_pattern took `mul` out of AOTAutograd's graph, together with "),
        ("%clone", "remove_noop_ops took `clone` out of AOTAutograd's graph: what read it reads `add`"),
        ("size =", "`mul` is a number, which the host computes"),
    ],
)
def test_what_no_operation_is_made_for(dump: Dump, name: str, told: str, capsys: Capture) -> None:
    line = refused(dump, capsys, name if name.startswith("%") else line_of(name))
    assert f": no operation is made for this: {told}" in line


def test_the_same_call_under_another_name_comes_first(dump: Dump, capsys: Capture) -> None:
    line = refused(dump, capsys, line_of("scaled ="))
    assert " put `mul_tensor`, " in line
    assert words(dump, capsys, "mul_tensor")


def test_of_a_line_that_no_graph_has_nothing_is_said_but_that(dump: Dump, capsys: Capture) -> None:
    assert ": no operation matches; there are: " in refused(dump, capsys, "two_names.py:2")
