"""Logs in the form of tritonparse's, with what the real Triton made of real kernels."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Artifact, Binary, Kernel, OriginRecords
from inspect_compile.knowledge.origins import TRITONPARSE, note
from inspect_compile.origins.triton_cache import GRAPH
from inspect_compile.origins.tritonparse import is_tritonparse_log, read_tritonparse_log
from inspect_compile.tables import TABLES

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs Triton")

PROGRAM = Path(__file__).parent / "programs" / "triton_kernels.py"
TEXTS = ("ttir", "ttgir", "llir", "ptx")


def compilation(folder: Path, kernel: str, place: int, block: int) -> dict[str, Any]:
    """The record of a compile, as tritonparse writes it."""
    lines = PROGRAM.read_text().split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith(f"def {kernel}(")) - 1
    last = next(number for number in range(first, len(lines)) if not lines[number])
    return {
        "event_type": "compilation",
        "pid": 7,
        "payload": {
            "metadata": {
                **json.loads((folder / f"{kernel}.json").read_text()), "src_constants": {f"({place},)": block},
            },
            "file_path": {f"{kernel}.ttir": f"/home/someone/.triton/cache/{folder.name}/{kernel}.ttir"},
            "file_content": {f"{kernel}.{stage}": (folder / f"{kernel}.{stage}").read_text() for stage in TEXTS},
            "python_source": {
                "file_path": str(PROGRAM), "start_line": first + 1,
                "code": "\n".join(f"    {line}" for line in lines[first:last]),
            },
        },
    }  # fmt: skip


@pytest.fixture
def log(triton_cache: Path, tmp_path: Path) -> Path:
    records: list[dict[str, Any]] = []
    for folder in sorted(triton_cache.iterdir()):
        if (folder / "add_kernel.json").exists():
            records.append(compilation(folder, "add_kernel", 4, 1024))
        elif (folder / "sum_kernel.json").exists():
            records.append(compilation(folder, "sum_kernel", 2, 512))
    records += [{"event_type": "launch", "name": "add_kernel", "grid": [number % 2 + 1, 1, 1]} for number in range(5)]
    records += [{"event_type": "autotune_analysis", "name": "add_kernel", "winner_compilation_hash": "abc"}]
    records += [{"event_type": "something_new"}, records[0]]
    path = tmp_path / "dedicated_log_triton_trace_me_.ndjson"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def read(path: Path, root: Path) -> Dump:
    assert is_tritonparse_log(path)
    read_tritonparse_log(path, root)
    return open_dump(root)


def test_kernels_sources_and_configurations(log: Path, tmp_path: Path) -> None:
    dump = read(log, tmp_path / "dump")
    assert (dump.run.origin, dump.run.notes, dump.run.device) == (TRITONPARSE, (note(TRITONPARSE),), "cuda")
    kernels = {kernel.name: kernel for kernel in dump.rows(Kernel)}
    assert set(kernels) == {"add_kernel", "sum_kernel"}
    for name, kernel in kernels.items():
        source = (dump.folder(GRAPH) / kernel.source).read_text()
        assert source.startswith(f"@triton.jit\ndef {name}(")
        assert [line.file for line in kernel.lines] == [str(PROGRAM)]
    rows = sorted((row.kernel, row.num_warps, row.config, row.target) for row in dump.rows(Binary))
    assert rows == [
        ("add_kernel", 4, {"BLOCK": 1024}, "sm_90"),
        ("add_kernel", 8, {"BLOCK": 1024}, "sm_90"),
        ("sum_kernel", 4, {"BLOCK": 512}, "sm_90"),
    ]
    for row in dump.rows(Binary):
        assert [stage.name for stage in row.stages] == list(TEXTS)
        assert (row.registers, row.spills) == (None, None)  # the log has no machine code
        assert re.match(r"\s*//", (dump.folder(GRAPH) / row.stages[-1].path).read_text())


def test_every_record_is_accounted_for(log: Path, tmp_path: Path) -> None:
    dump = read(log, tmp_path / "dump")
    counts = {row.what: (row.count, row.became) for row in dump.rows(OriginRecords)}
    assert counts == {
        "autotune_analysis": (1, "artifacts"),
        "compilation": (4, "kernels, binaries"),
        "launch": (5, "artifacts"),
        "something_new": (1, "counted"),
    }
    texts = {row.name: row.text for row in dump.rows(Artifact)}
    assert texts["launches"] == "add_kernel: 5 launches, grids 1 × 1 × 1 (3), 2 × 1 × 1 (2)"
    assert texts["fastest configuration"] == "add_kernel: abc"


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(table: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_tritonparse_log(log, tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if table in ("nodes", "wrapper", "memory", "time"):
        assert f"{table}: not known, since a log of tritonparse does not hold it" in shown.out + shown.err


def test_hostile_lines_are_counted(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_compile.origins.tritonparse.LONGEST_TEXT", 20_000)
    good = json.dumps({"event_type": "launch", "name": "x", "grid": "wide"})
    wrong: list[object] = [
        {"event_type": "compilation"},
        {"event_type": "compilation", "payload": {"metadata": {"name": "../../x"}}},
        {"event_type": "compilation", "payload": {"metadata": {"name": ["x"]}, "file_content": 3}},
        {"event_type": ["compilation"]},
        {"event_type": "launch", "name": 3, "grid": {}},
        {"event_type": "autotune_analysis", "winner_compilation_hash": {}},
    ]
    odd = {
        "event_type": "compilation",
        "payload": {
            "metadata": {"name": "odd", "hash": 3, "src_constants": {"(0,)": 7, "(1,)": 1.5, "x": 2}, "target": 3},
            "file_content": {"odd.ttir": ["x"], "odd.cubin": "x", "odd.ptx": "// nothing"},
            "python_source": {
                "file_path": "x.py",
                "start_line": -1,
                "code": "def odd(a, b: tl.constexpr):\n" + "(" * 300,
            },
        },
    }
    lines = [good, *map(json.dumps, (*wrong, odd)), "[" * 15_000, "x" * 50_000, "{torn"]
    log.write_text("\n".join(lines))
    dump = read(log, tmp_path / "dump")
    assert [kernel.name for kernel in dump.rows(Kernel)] == ["odd"]
    [binary] = dump.rows(Binary)
    assert [stage.name for stage in binary.stages] == ["ptx"]
    assert {row.what: row.count for row in dump.rows(OriginRecords) if row.became == "not read"} == {
        "lines: compile whose kernel is not known": 3,
        "lines: no record of tritonparse": 3,
        "lines: too long": 1,
    }
    assert [row.text for row in dump.rows(Artifact)] == ["x: 1 launches, grids not known (1)"]


def test_other_json_is_none(tmp_path: Path) -> None:
    for number, text in enumerate(("", "{}", '{"event_type": "click"}', "[1]")):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        assert not is_tritonparse_log(path)
