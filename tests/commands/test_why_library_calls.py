"""`why` promises bytes and a setting only for library calls that torch can generate a kernel for."""

import json
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "library_calls.py"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    folder = tmp_path_factory.mktemp("library_calls")
    done = inspected([PROGRAM], folder)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def told(dump: Dump, capsys: Capture, *nodes: str) -> tuple[str, dict[str, Any]]:
    """What `why` says of the operations that compute two nodes, in words and as JSON."""
    (graph,) = dump.graphs()
    made = {row.nodes[-1]: row.name for row in dump.rows(Operation, graph.graph) if row.phase == "pre_fusion"}
    names = [made[node] for node in nodes]
    assert main(["why", str(dump.root), *names]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert main(["why", str(dump.root), *names, "--json"]) == 0
    return words, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("nodes", "because"),
    [
        (("sort", "topk"), "op0 is a library call (sort), op3 is a library call (topk)"),
        (("getitem", "topk"), "op1 is a result of a library call, op3 is a library call (topk)"),
        (("getitem", "tanh"), "op1 is a result of a library call"),
        (("mm_1", "amax"), "op9 is a library call (mm_1)"),
    ],
)
def test_nothing_is_promised_that_no_template_can_do(
    dump: Dump, nodes: tuple[str, ...], because: str, capsys: Capture
) -> None:
    words, story = told(dump, capsys, *nodes)

    assert f"Not fused: {because}: torch fuses only code that it generates." in words
    assert story["saved"]["saved"] == 0
    assert "less" not in words
    assert "max-autotune" not in words


@pytest.mark.parametrize("nodes", [("mm", "sigmoid"), ("sigmoid", "mm_1")])
def test_a_template_can_hold_a_product_and_what_is_pointwise(
    dump: Dump, nodes: tuple[str, ...], capsys: Capture
) -> None:
    words, story = told(dump, capsys, *nodes)

    assert story["saved"]["saved"] > 0
    assert "one kernel for both could move" in words
    assert "max-autotune" in words
