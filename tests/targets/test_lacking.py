"""What the CPU lacks for a type, and a GPU has, is computed in a program for a target."""

import ast
from pathlib import Path

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Remark
from tests.running import inspected


def test_a_histogram_of_whole_numbers(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "histogram.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2, 4, 6, 12] torch.int32\n[2, 4, 6, 12]\n"
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"]
    assert not [row for row in dump.rows(Remark) if row.code in ("target-failed", "target-cuda")]


def test_operators_that_a_cpu_has_for_fewer_types(tmp_path: Path) -> None:
    """Eagerly, in a compiled function, and backward, the results are as wide as a GPU's."""
    program = Path(__file__).parent / "programs" / "lacking.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    eager, compiled, backward, whole = done.stdout.splitlines()
    assert eager == compiled
    assert [pair[0] for pair in ast.literal_eval(eager)] == ["torch.bfloat16", "torch.float16", "torch.float16"]
    assert ast.literal_eval(eager)[0][1] == 504 == 2 * sum(range(64)) / 8
    assert ast.literal_eval(backward)[0] == ("torch.bfloat16", 16.0)
    assert whole == "6"
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    assert not [row for row in dump.rows(Remark) if row.code in ("target-failed", "target-cuda")]


def test_all_that_torchs_table_of_operators_knows(tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "types_of_a_gpu.py"

    done = inspected([program], tmp_path, options=["--target", "sm_90"])

    *lines, tried = done.stdout.splitlines()
    assert int(tried.removeprefix("tried ")) > 40
    assert not [line for line in lines if "| Unsupported dtype Half" not in line]
