"""A Triton kernel whose statements' values are written out, in Triton's interpreter: it has them and stores nothing."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.codegen.numerics.probed_triton import probed_triton
from tests.running import run

pytest.importorskip("triton", reason="torch came without Triton")

ROW = [20.0, 21.0, 22.0, 23.0, 24.0]
"""Of what the kernels read, the one that makes the element."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the program says of each kernel."""
    program = Path(__file__).parent / "programs" / "triton_statements.py"
    done = run([sys.executable, program], tmp_path_factory.mktemp("triton"))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_nothing_is_stored(found: list[dict[str, Any]]) -> None:
    names = ["pointwise"] * 3 + ["tiled", "persistent", "persistent", "looped", "scattered"]
    assert [row["kernel"] for row in found] == [*names, "combined", "combined", "in_turn", "in_turn"]
    assert [row["buffer"] for row in found] == [23.0 if at == 4 else 0.0 for at in range(12)]


def test_an_element_of_its_own(found: list[dict[str, Any]]) -> None:
    row = found[0]

    assert row["values"] == {"tmp0": [13.0], "tmp1": [0.375], "tmp2": [13.375], "tmp3": [26.75]}
    assert (row["stored"], row["loops"]["xindex"]) == (1, 13.0)
    assert row["line"] == row["lines"][-1] == row["lines"][-2] + 1
    # As in the kernel's source: imports, a function that it calls and the decorators stand before it.
    assert row["lines"][0] == 22


def test_an_element_that_a_mask_leaves_out(found: list[dict[str, Any]]) -> None:
    masked, lost = found[1:3]

    assert (masked["stored"], masked["line"]) == (0, found[0]["line"])
    assert (lost["stored"], lost["line"]) == (0, 99)


def test_two_axes(found: list[dict[str, Any]]) -> None:
    assert found[3]["values"] == {"tmp0": [13.0], "tmp1": [-13.0]}
    assert found[3]["loops"] == {"xindex": 3.0, "yindex": 2.0}


def test_a_row_and_what_it_is_reduced_to(found: list[dict[str, Any]]) -> None:
    element, total = found[4:6]

    assert element["values"] == total["values"]
    assert total["values"]["tmp0"] == ROW
    assert total["values"]["tmp4"] == [sum(ROW)] * 5
    assert total["values"]["tmp5"] == [one - sum(ROW) for one in ROW]
    assert element["lane"] == 3
    assert element["line"] != total["line"]


def test_a_row_in_turns(found: list[dict[str, Any]]) -> None:
    assert found[6]["values"]["tmp0"] == ROW
    assert found[6]["values"]["tmp2"] == [sum(ROW)]


def test_an_element_that_many_add_to(found: list[dict[str, Any]]) -> None:
    assert found[7]["stored"] == 4  # the elements 3, 10, 17 and 24
    assert found[7]["values"]["tmp0"] == [3.0]


def test_parts_of_a_combo_kernel(found: list[dict[str, Any]]) -> None:
    first, second, *in_turn = found[8:12]

    assert [row["own"] for row in in_turn] == [first["own"], second["own"]]
    assert {name: in_turn[0]["values"][name] for name in first["own"]} == {"tmp0": [29.0], "tmp1": [-29.0]}
    assert {name: in_turn[1]["values"][name] for name in second["own"]} == {
        name: second["values"][name] for name in second["own"]
    }
    assert first["stored"] == 1
    assert second["stored"] == 8  # once for each element of the row's block
    assert (first["own"], second["own"]) == (["tmp0", "tmp1"], ["tmp2", "tmp3", "tmp5", "tmp6"])
    assert {name: first["values"][name] for name in first["own"]} == {"tmp0": [13.0], "tmp1": [-13.0]}
    assert {name: second["values"][name] for name in second["own"]} == {
        **dict.fromkeys(("tmp2", "tmp3", "tmp5"), ROW),
        "tmp6": [sum(ROW)] * 5,
    }


@pytest.mark.parametrize(
    "source",
    ["", "def k(:", "x = 1", "def k(in_ptr0, xnumel):\n    tmp0 = tl.load(in_ptr0 + (0))", "def k():\n    return 1"],
)
def test_another_form_is_refused(source: str) -> None:
    assert probed_triton(source) is None
