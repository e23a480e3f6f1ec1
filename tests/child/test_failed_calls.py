"""An error that comes out of a graph's code when it is called, and ends the program, is recorded with its line."""

from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.findings.every import findings
from inspect_compile.dump import Dump
from inspect_compile.facts import Remark
from inspect_compile.graph import Graphs
from tests.private_names import version
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "refused_input.py"


@pytest.mark.parametrize(
    ("function", "why", "code"),
    [
        pytest.param(
            "step",
            "AssertionError: expected size 2==1, stride 1==1 at dim=0: `assert_size_stride(",
            "if a[0] < 1e5:",
            marks=pytest.mark.skipif(version(torch.__version__) >= (2, 15), reason="it is right there"),
        ),
        (
            "own_operator",
            "RuntimeError: no inputs on Tuesdays: `buf1 = torch.ops.refused.input",
            "def own_operator(x):",
        ),
    ],
)
def test_an_error_that_came_out_of_compiled_code_is_the_first_finding(
    tmp_path: Path, function: str, why: str, code: str
) -> None:
    done = inspected([PROGRAM, function], tmp_path)
    assert done.returncode == 1
    dump = Dump(tmp_path / "dump")

    row = findings(Graphs(dump))[0]

    assert row.kind == "failed-compile"
    assert row.what == "compiled code raised an error when it was called, and the program ended"
    assert row.why.startswith(why)
    (told,) = (remark for remark in dump.rows(Remark) if remark.code == "failed-call")
    text = dump.text(row.graph, "output_code.py") or ""
    assert f"`{text.splitlines()[int(told.numbers['line']) - 1].strip()}`" in row.why
    assert [part.where.code for part in row.parts if part.where is not None] == [code]


def test_an_error_of_the_program_itself_is_none_of_compiled_code(tmp_path: Path) -> None:
    done = inspected([PROGRAM, "plain"], tmp_path)
    assert done.returncode == 1
    assert [row for row in findings(Graphs(Dump(tmp_path / "dump"))) if row.kind == "failed-compile"] == []
