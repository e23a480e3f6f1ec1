"""`show fusion`, and the options that choose pairs."""

import json
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.facts import Location
from inspect_compile.knowledge.fusion.reasons import UNKNOWN
from tests.handmade import GRAPH, attempt, ended, graph, made, node, operation

BETWEEN = "intermediate nodes between node1 & node2"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def net(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump of four operations of three lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    names = {"op0": ("add", 3), "op1": ("mul", 3), "op2": ("sum_1", 5), "op3": ("relu", 8)}
    made(
        tmp_path / "net",
        graph(),
        *(
            node(name, "aten.x", where=Location(file="/home/me/model.py", line=line, function="f"))
            for name, line in names.values()
        ),
        *(
            operation(
                name, reads={}, writes={f"buf{name[2:]}": 8}, nodes=(made_by,), phase="pre_fusion", members=(name,)
            )
            for name, (made_by, _) in names.items()
        ),
        attempt("op0", "op2", "refused", reason="no shared data", shared_bytes=0),
        attempt("op1", "op2", "refused", reason=BETWEEN, shared_bytes=64),
        attempt("op0", "op1", "fused", into="op0_op1", shared_bytes=8),
        attempt("op2", "op3", "allowed", shared_bytes=16),
        attempt("op0_op1", "op2", "refused", reason=BETWEEN, shared_bytes=128, round=2),
        attempt("op2", "op3", "refused", reason="The moon is full", round=2),
        ended(GRAPH),
    )


def pairs(capsys: Capture, *words: str) -> list[str]:
    """`1 op0 op2` for each row that --json prints."""
    assert main(["show", "fusion", "--json", *words]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    return [f"{row['round']} {row['a']} {row['b']}" for row in rows]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--reason", "intermediate-nodes"], ["1 op1 op2", "2 op0_op1 op2"]),
        (["--reason", "allowed"], ["1 op2 op3"]),
        (["--round", "2"], ["2 op0_op1 op2", "2 op2 op3"]),
        (["--line", "8"], ["1 op2 op3", "2 op2 op3"]),
        (["--line", "model.py:8"], ["1 op2 op3", "2 op2 op3"]),
        (["--line", "me/model.py:8", "--round", "1"], ["1 op2 op3"]),
        (["--line", "3", "--reason", "no-shared-data"], ["1 op0 op2"]),
        (["--line", "8", "--reason", "no-shared-data"], []),
    ],
)
def test_pairs_are_chosen(capsys: Capture, words: list[str], kept: list[str]) -> None:
    assert pairs(capsys, *words) == kept
    assert main(["show", "fusion", *words, "--all"]) == 0
    told = capsys.readouterr().out
    assert [" ".join(line.split()[:3]) for line in told.splitlines() if " op" in line] == kept
    assert ("the scheduler considered no such pair" in told) == (not kept)


def test_those_that_share_most_come_first_and_the_rest_is_a_command_away(capsys: Capture) -> None:
    assert main(["show", "fusion", "--reason", "intermediate-nodes", "--limit", "1"]) == 0
    told = capsys.readouterr().out
    assert "op0_op1" in told
    assert "1 more   show fusion --reason intermediate-nodes --all" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["fusion", "--reason", "nope"],
            "--reason nope: no pair was refused for this reason; there are: intermediate-nodes, no-shared-data, ",
        ),
        (["fusion", "--round", "7"], "--round 7: no pair was considered in this round; there are: 1-2"),
        (
            ["fusion", "--line", "model.py:4"],
            "--line model.py:4: no operation comes from this line; there are: model.py:3, model.py:5, model.py:8",
        ),
        (["fusion", "--line", "del.py:3"], "--line del.py:3: no operation comes from this line; "),
        (["fusion", "--line", "model.py"], "--line model.py: neither a number nor file.py:NUMBER"),
        (["kernels", "--round", "1"], "kernels takes no --round; it goes with: fusion"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(capsys: Capture, words: list[str], told: str) -> None:
    assert main(["show", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"inspect-compile: {told}")
    assert err.count("\n") == 1


def test_an_unknown_reason_is_kept_as_torch_wrote_it_and_flagged(capsys: Capture) -> None:
    assert main(["show", "fusion", "--reason", "the-moon-is-full"]) == 0
    assert f"The moon is full ({UNKNOWN})" in capsys.readouterr().out
    assert main(["show", "fusion"]) == 0
    assert f"the-moon-is-full        1  {UNKNOWN}" in capsys.readouterr().out


def test_json_has_what_the_table_shows(capsys: Capture) -> None:
    assert main(["show", "fusion", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    refusals = {row["code"]: row["count"] for row in rows if row["fact"] == "refusal_count"}
    refused = [row["code"] for row in rows if row["fact"] == "candidate" and row["verdict"] == "refused"]
    assert refusals == {code: refused.count(code) for code in set(refused)} != {}
    assert {row["fact"] for row in rows} == {"candidate", "refusal_count"}  # nothing was fused or left apart at the end
    assert all(bool(row["meaning"]) == (row["code"] != "the-moon-is-full") for row in rows if "meaning" in row)

    assert main(["show", "fusion", "--facts"]) == 0
    assert {json.loads(line)["fact"] for line in capsys.readouterr().out.splitlines()} == {"fusion_looks"}
