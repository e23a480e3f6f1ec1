"""What exports, compiles ahead of time, saves and loads is timed, each call with the program's line."""

from pathlib import Path
from typing import Final

import pytest

from inspect_compile.analysis.dumps.nothing import nothing
from inspect_compile.analysis.frontend.time_sums import time_sums, wanted_parts
from inspect_compile.analysis.frontend.times import compile_seconds
from inspect_compile.analysis.frontend.whole_start import whole_start
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.frontend.compile_stages import BUILDING, EXPORT, PACKAGES
from tests.running import inspected, plain

PROGRAMS: Final = Path(__file__).parents[1] / "programs"


def calls(dump: Dump) -> dict[str, tuple[int, str]]:
    sums = time_sums(Graphs(dump), wanted_parts(Graphs(dump)))
    return {row.name: (row.count, row.place) for row in sums if row.kind == "ahead"}


def line(program: Path, text: str) -> str:
    lines = program.read_text().splitlines()
    return f"{program.name}:{1 + next(at for at, own in enumerate(lines) if text in own)}"


@pytest.mark.slow
def test_a_package(tmp_path: Path) -> None:
    program, package = PROGRAMS / "ahead.py", str(tmp_path / "model.pt2")
    done = inspected([program, package], tmp_path)
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    assert calls(dump) == {
        "torch.export.export": (1, line(program, "torch.export.export")),
        "aoti_compile_and_package": (1, line(program, "aoti_compile_and_package")),
        "aoti_load_package": (1, line(program, "aoti_load_package")),
    }
    rows = wanted_parts(Graphs(dump))
    assert compile_seconds(rows) == {}  # all of it has a name
    assert {EXPORT, PACKAGES, BUILDING} <= {row.stage for row in rows}
    whole = whole_start(dump)
    assert whole is not None
    assert {EXPORT, PACKAGES} <= {row.lane for row in whole.lanes}

    (tmp_path / "later").mkdir()
    loaded = inspected([program, package, "load"], tmp_path / "later")
    assert loaded.stdout == plain([program, package, "load"], tmp_path).stdout == done.stdout
    dump = Dump(tmp_path / "later" / "dump")
    at = line(program, "aoti_load_package")
    assert calls(dump) == {"aoti_load_package": (1, at)}
    why = nothing(dump)
    assert why is not None
    assert why.text == f"{at} loaded what had been compiled before (aoti_load_package)"


def test_a_function(tmp_path: Path) -> None:
    program = PROGRAMS / "ahead_function.py"
    done = inspected([program, tmp_path / "function.pt"], tmp_path)
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump")
    assert calls(dump) == {
        "aot_compile": (1, line(program, ".aot_compile(")),
        "save_compiled_function": (1, line(program, "save_compiled_function")),
        "load_compiled_function": (1, line(program, "load_compiled_function")),
    }
    assert set(compile_seconds(wanted_parts(Graphs(dump)))) == {"0/0"}
