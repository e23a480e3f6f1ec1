"""A recording as an object: rows, findings, data frames, and its page in a notebook."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile import CommandError, DumpError, Recording, open_dump
from inspect_compile.api.html import LARGEST
from inspect_compile.facts import Location, Run
from inspect_compile.knowledge.origins import TORCH_TRACE
from inspect_compile.tables import TABLES
from tests.conftest import DumpOf
from tests.handmade import ended, graph, kernel, made, node
from tests.running import COMMAND

EVIL = "<img onerror=alert(1)>\x1b]0;x\x07"


@pytest.fixture(scope="module")
def recording(dump_of: DumpOf) -> Recording:
    return open_dump(dump_of("missed_fusion").dump)


def test_the_rows_are_those_of_show(recording: Recording, tmp_path: Path) -> None:
    for name in ("kernels", "findings", "graphs"):
        words = [*COMMAND, "show", recording.path, name, "--json"]
        printed = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
        frame = pytest.importorskip("pandas").DataFrame([json.loads(line) for line in printed])
        found = recording.table(name)
        assert len(found) == len(printed) > 0
        assert found.to_pandas().equals(frame)


def test_findings_are_records(recording: Recording) -> None:
    (found,) = recording.findings()
    assert found.kind
    assert {part.where.line for part in found.parts if part.where is not None} == {22, 24}
    assert recording.findings() == tuple(recording.table("findings"))


def test_tables_take_the_options_of_show(recording: Recording) -> None:
    assert recording.tables() == TABLES
    by_line, by_kernel = recording.table("traffic", by="line"), recording.table("traffic", by="kernel")
    assert by_line != by_kernel
    name = recording.graphs()[0].graph
    assert recording.table("kernels", graph=name) == recording.table("kernels")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("no_such", {}, "no such table; there are: overview"),
        ("kernels", {"by": "line"}, "kernels takes no by; it takes: nothing"),
        ("traffic", {"of": "time"}, "traffic takes no of; it takes: by"),
        ("kernels", {"graph": "other"}, "other: no such graph; there are: "),
    ],
)
def test_what_is_not_there_is_refused(recording: Recording, name: str, options: dict[str, str], told: str) -> None:
    with pytest.raises(CommandError, match=told):
        recording.table(name, **options)


def test_no_dump(tmp_path: Path) -> None:
    with pytest.raises(DumpError):
        open_dump(tmp_path)


def test_what_a_log_cannot_tell_is_refused_and_not_empty(tmp_path: Path) -> None:
    dump = made(tmp_path / "dump", graph(), run=Run(status="finished", origin=TORCH_TRACE))
    with pytest.raises(CommandError, match="schedule: not known"):
        open_dump(dump.root).table("schedule")


def test_its_page_is_small_and_holds_no_markup_of_the_program(tmp_path: Path) -> None:
    where = Location(f"/{EVIL}.py", 1, EVIL, EVIL)
    facts = [graph(), node("x"), node(EVIL, EVIL, where=where), kernel(EVIL), ended()]
    dump = made(tmp_path / "dump", *facts, run=Run(status="finished", argv=(EVIL,), device="cpu"))
    page = open_dump(dump.root)._repr_html_()
    assert "<img onerror" not in page
    assert "\x1b" not in page
    assert "&lt;img onerror" in page
    assert len(page) < 2 * LARGEST


def test_its_page_of_nothing(tmp_path: Path) -> None:
    page = open_dump(made(tmp_path / "dump").root)._repr_html_()
    assert "nothing is recorded" in page


def test_reading_loads_no_torch(recording: Recording) -> None:
    code = (
        "import sys, inspect_compile; r = inspect_compile.open_dump(sys.argv[1]); r.findings(); r._repr_html_();"
        "print('torch' in sys.modules, 'pandas' in sys.modules, 'IPython' in sys.modules)"
    )
    words = [sys.executable, "-c", code, str(recording.path)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "False False False\n"
