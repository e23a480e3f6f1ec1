"""What the CPU lacks for a type, and a GPU has, is computed in a program for a target."""

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
