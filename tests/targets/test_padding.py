"""A matmul of sizes that do not suit a GPU: padded where a table of timings says so, else a remark names it."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd, Node, Remark
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "unaligned.py"


@pytest.mark.targets
@pytest.mark.parametrize("target", ["sm_90", "sm_80"])
def test_each_matmul_is_named_and_some_are_decided(target: str, tmp_path: Path) -> None:
    done = inspected([PROGRAM], tmp_path, options=["--target", target])

    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / f"target_{target}")
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"]
    told = {
        row.message.partition(": nothing was timed, ")[0].removeprefix("of 0/0, "): row.message.partition(
            ": nothing was timed, "
        )[2]
        for row in dump.rows(Remark)
        if row.code == "target-not-measured"
    }
    asked = ", with and without padding, which Inductor times on the device"
    open_ = "it was not padded, and the device may pad it"
    vocabulary, small, single = (
        f"mm of {sizes}{asked}"
        for sizes in (
            "bfloat16 [2048, 768] and [768, 50257]",
            "bfloat16 [64, 64] and [64, 33]",
            "float32 [512, 1023] and [1023, 512]",
        )
    )
    like = "like it, in a table of timings"
    assert told == {
        vocabulary: f"it was padded: an H200 padded 164 of 172 {like}" if target == "sm_90" else open_,
        small: f"{open_}; an H200 padded 40 of 112 {like}" if target == "sm_90" else open_,
        single: f"it was not padded: an H200 padded 2 of 200 {like}" if target == "sm_90" else open_,
    }
    (graph,) = dump.graphs()
    widths = [node.values[0].size[-1] for node in dump.rows(Node, graph.graph) if node.target == "aten.mm.default"]
    assert (50264 in widths) == (target == "sm_90")
