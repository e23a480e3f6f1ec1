"""Operators that a script defines for itself are compiled for targets, forward and backward."""

from pathlib import Path

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Kernel, Remark
from tests.running import inspected, plain

PROGRAM = Path(__file__).parent / "programs" / "script_ops.py"


def test_every_kind_of_definition(tmp_path: Path) -> None:
    done = inspected([PROGRAM], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == plain([PROGRAM], tmp_path).stdout
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    assert not [row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
    assert [graph.kind for graph in dump.outermost()] == ["forward", "backward", "inference"]
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"] * 3
    called = [kernel.name for kernel in dump.rows(Kernel) if kernel.kind == "extern"]
    assert sum("script.twice" in name for name in called) == 2  # its own backward calls it
    assert any("plain.halved" in name for name in called)
    assert not any("swung" in name or "shifted" in name for name in called)  # taken apart
