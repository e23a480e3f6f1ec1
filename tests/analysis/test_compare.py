"""Two recorded compiles, one of them changed by hand in one place."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.compare import Difference, compare, matched
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Kernel
from tests.tui.driving import BACKWARD, FORWARD, RECORDED

Row = dict[str, Any]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RECORDED, tmp_path / "copy"))


def rewrite(path: Path, change: Callable[[Row], Row | None]) -> None:
    """Change the rows of one table; None takes one away."""
    rows = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row is not None))


def differences(root: Path) -> list[Difference]:
    return compare(Dump(RECORDED), Dump(root))


def test_a_compile_equals_itself(copy: Path) -> None:
    assert differences(copy) == []


def test_graphs_are_matched_by_compile_and_kind(copy: Path) -> None:
    pairs = matched(Dump(RECORDED), Dump(copy))
    assert [(a.graph, b.graph) for a, b in pairs if a and b] == [(FORWARD, FORWARD), (BACKWARD, BACKWARD)]


def test_a_graph_that_only_one_has(copy: Path) -> None:
    rewrite(copy / "graphs.jsonl", lambda row: None if row["graph"] == BACKWARD else row)
    (found,) = differences(copy)
    assert (found.level, found.graph, found.other) == ("graphs", BACKWARD, "")
    assert found.message == "backward 0/0 was compiled by {a} only"


def test_nodes_of_another_size(copy: Path) -> None:
    def widen(row: Row) -> Row:
        if row["name"] == "cumsum" and row["stage"] == "post_grad":
            row["values"][0]["size"][0] = 5
        return row

    rewrite(copy / paths.table("nodes", FORWARD), widen)
    (found,) = differences(copy)
    assert (found.level, found.message) == ("nodes", "1 node only in {a}, 1 node only in {b}")
    assert found.first == ("aten.cumsum.default float32[4, 16, 32, 32] cpu",)
    assert found.second == ("aten.cumsum.default float32[5, 16, 32, 32] cpu",)
    assert (found.where or "").endswith("mixed.py:21")


def test_a_collective_is_the_gravest(copy: Path) -> None:
    def reduce(row: Row) -> Row:
        if row["name"] == "cumsum" and row["stage"] == "post_grad":
            row["target"] = "_c10d_functional.all_reduce.default"
        return row

    rewrite(copy / paths.table("nodes", FORWARD), reduce)
    first, second = differences(copy)
    assert (first.level, first.message) == ("collectives", "1 collective call only in {b}")
    assert second.level == "nodes"


def test_kernels_by_content(copy: Path) -> None:
    """Another name is no difference, another statement is."""
    kernel = next(row for row in Dump(copy).rows(Kernel, FORWARD) if row.source)
    source = copy / paths.graph_folder(FORWARD) / kernel.source
    text = source.read_text()
    source.write_text(f"// a comment\n{text}")
    assert differences(copy) == []
    source.write_text(text.replace("for(", "while(", 1))
    (found,) = differences(copy)
    assert (found.level, found.first, found.second) == ("kernels", (kernel.name,), (kernel.name,))


def test_addresses_and_device_numbers_are_no_difference(copy: Path) -> None:
    def moved(number: int) -> Callable[[Row], Row]:
        return lambda row: {**row, "values": [{**value, "device": f"cuda:{number}"} for value in row["values"]]}

    other = Path(shutil.copytree(RECORDED, copy.parent / "other"))
    rewrite(copy / paths.table("nodes", FORWARD), moved(0))
    rewrite(other / paths.table("nodes", FORWARD), moved(1))
    guard = {"fact": "guard", "graph": "0/0", "kind": "MODULE_MATCH", "source": "L['m']"}
    for root, address in ((copy, 139795382590640), (other, 94631345475136)):
        (root / "guards.jsonl").write_text(
            json.dumps({**guard, "code": [f"___check_obj_id(L['m'], {address})"]}) + "\n"
        )
    assert compare(Dump(copy), Dump(other)) == []


@pytest.mark.parametrize(
    ("level", "row"),
    [
        ("breaks", {"fact": "graph_break", "graph": "0/0", "reason": "print"}),
        (
            "recompiles",
            {
                "fact": "recompile",
                "graph": "0/1",
                "function": "f",
                "file": "f.py",
                "line": 3,
                "reasons": ["size 4 is 5"],
            },
        ),
        ("frames", {"fact": "frame", "graph": "0/1", "function": "f", "file": "f.py", "line": 3, "status": "compiled"}),
    ],
)
def test_what_dynamo_did_once_more(level: str, row: Row, copy: Path) -> None:
    with open(copy / "dynamo.jsonl", "a") as file:
        file.write(json.dumps(row) + "\n")
    (found,) = differences(copy)
    assert (found.level, found.graph, found.other) == (level, "", row["graph"])
    assert (len(found.first), len(found.second)) == (0, 1)
