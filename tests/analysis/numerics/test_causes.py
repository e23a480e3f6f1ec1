"""What became of each change, from the numbers of wrong results before and after."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.numerics.causes import FAILED, FIXES, FIXES_NOT, HELPS, NOT_WRONG, STILL, causes, fixing
from inspect_compile.dump import Dump
from inspect_compile.facts import Checked, NumericsCall, Run
from inspect_compile.graph import Graphs
from tests.handmade import GRAPH, graph, made, operation

ROW = Checked(
    graph=GRAPH,
    call=1,
    index=0,
    kernel="cpp_fused_0",
    line=101,
    buffer="buf1",
    node="add",
    dtype="float32",
    elements=4096,
    rmse=1e-7,
    eager_rmse=1e-7,
    noise_rmse=1e-8,
    exact_rms=1.0,
)
RESULTS = {
    "exact": replace(ROW, is_equal=True),
    "worse": replace(ROW, rmse=1e-6),
    "wrong": replace(ROW, nonfinite_wrong=1),
    "none": replace(ROW, reason="it is not a tensor"),
}
EMULATE = {"emulate_precision_casts": "True"}


def checked(root: Path, *results: str, **run: Any) -> Dump:
    """A dump, or a replay, of a check with these results."""
    rows = [replace(RESULTS[name], index=at) for at, name in enumerate(results)]
    call = NumericsCall(graph=GRAPH, call=1, launches=len(rows))
    pair = [
        operation(name, reads={"arg0": 4}, writes={f"buf{at}": 4}, phase=phase)
        for phase, names in (("pre_fusion", ("op0", "op1", "op2")), ("post_fusion", ("op0_op1_op2",)))
        for at, name in enumerate(names)
    ]
    found = Run(status="finished", argv=("net.py",), device="cpu", versions={"torch": "2.13.0"}, **run)
    return made(root, graph(), *pair, *rows, call, run=found)


def outcome(tmp_path: Path, recorded: str, before: str, after: str, change: dict[str, Any]) -> dict[str, str]:
    """Change → outcome, for results given as words with blanks between them."""
    dump = checked(tmp_path, *recorded.split())
    checked(tmp_path / "replay_1", *before.split(), replay_of=GRAPH)
    checked(tmp_path / "replay_2", *after.split(), replay_of=GRAPH, **change)
    return {row.change: row.outcome for row in causes(Graphs(Dump(dump.root))) if row.replay is not None}


@pytest.mark.parametrize(
    ("recorded", "before", "after", "first", "then"),
    [
        ("wrong exact", "wrong exact", "exact exact", STILL, FIXES),
        ("wrong wrong", "wrong wrong", "wrong exact exact", STILL, HELPS),
        ("wrong", "wrong", "wrong wrong", STILL, FIXES_NOT),
        ("wrong worse", "wrong worse", "worse worse", STILL, FIXES),
        ("wrong", "worse", "exact", NOT_WRONG, FIXES),
        ("worse exact", "worse exact", "exact exact", STILL, FIXES),
        ("worse", "exact", "exact", NOT_WRONG, FIXES_NOT),
        ("wrong", "wrong", "none", STILL, FAILED),
    ],
)
def test_the_outcome(recorded: str, before: str, after: str, first: str, then: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, recorded, before, after, {"config": EMULATE}) == {
        "as it was": first,
        "emulate_precision_casts=True": then,
    }


def test_the_operation_that_writes_the_wrong_result_is_kept_apart(tmp_path: Path) -> None:
    found = outcome(tmp_path, "wrong", "wrong", "exact", {"denied": (("op1", "op0_op2"),)})

    assert found == {"as it was": STILL, "op1 and op0_op2 apart": FIXES}


def test_the_latest_compile_with_a_change_counts(tmp_path: Path) -> None:
    outcome(tmp_path, "wrong", "wrong", "exact", {"config": EMULATE})
    checked(tmp_path / "replay_3", "wrong", replay_of=GRAPH, config=EMULATE)

    rows = causes(Graphs(Dump(tmp_path)))

    assert [(row.replay, row.outcome) for row in rows if row.replay is not None] == [(1, STILL), (3, FIXES_NOT)]
    assert fixing(rows) == []


def test_a_replay_without_a_check_is_none_of_them(tmp_path: Path) -> None:
    checked(tmp_path, "wrong")
    made(tmp_path / "replay_1", graph(), run=Run(status="finished", replay_of=GRAPH))

    assert causes(Graphs(Dump(tmp_path))) == []
