"""`why` of values that are computed inline in several kernels, and of layers that are alike."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Kernel
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "inlined.py"
Capture = pytest.CaptureFixture[str]


class Side(NamedTuple):
    operation: str
    kernel: str
    node: str
    module: str


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Dump:
    folder = tmp_path_factory.mktemp("inlined")
    done = inspected([PROGRAM], folder)
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def line_of(code: str) -> str:
    (number,) = (n for n, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.strip().startswith(code))
    return f"inlined.py:{number}"


def words(dump: Dump, capsys: Capture, *names: str) -> str:
    assert main(["why", str(dump.root), *names]) == 0
    return " ".join(capsys.readouterr().out.split())


def story(dump: Dump, capsys: Capture, *names: str) -> dict[str, Any]:
    assert main(["why", str(dump.root), *names, "--json"]) == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def sides(told: dict[str, Any]) -> list[Side]:
    return [Side(*(told[name][field] for field in Side._fields)) for name in ("a", "b")]


GRAPH = "model__0_inference_0.0"
ADD, VAR, MM = "a = x + y", "s = a.var", "m = torch.mm"
LAST = "return (a * m)"


@pytest.mark.parametrize(("line", "node"), [(VAR, "var"), (LAST, "sum_1"), (MM, "clone")])
def test_an_inlined_value_is_in_the_kernel_of_each_reader(dump: Dump, capsys: Capture, line: str, node: str) -> None:
    first, last = (kernel.name for kernel in dump.rows(Kernel) if "add" in kernel.computes and kernel.graph == GRAPH)
    here, there = (last, first) if line == LAST else (first, last)

    for a, b in ((line_of(ADD), line_of(line)), ("add", node)):
        told = story(dump, capsys, a, b) if ":" in a else story(dump, capsys, a, b, "--graph", GRAPH)
        assert told["outcome"] in ("inlined", "together")
        assert {side.kernel for side in sides(told)} == {here}
        assert told["again"] == [{"nodes": ["add"], "kernels": [there]}]
    said = words(dump, capsys, line_of(ADD), line_of(line))
    assert "Not fused" not in said
    assert f"`add` is computed again in {there}." in said


def test_what_is_between_two_readers_still_keeps_them_apart(dump: Dump, capsys: Capture) -> None:
    """A value that both compute makes them no kernel."""
    said = words(dump, capsys, line_of(VAR), line_of(LAST))
    assert "Not fused: matmul" in said
    assert "must run between the two" in said


def test_layers_are_compared_within_one(dump: Dump, capsys: Capture) -> None:
    """The norm of a layer is fused with the end of the layer before it; with its own end it is not."""
    norm, linear, end = map(line_of, ("h = self.norm(x)", "h = self.project", "return x + h"))
    told = story(dump, capsys, norm, linear)
    assert told["outcome"] == "apart"
    assert [side.module for side in sides(told)] == ["L.fn.0.norm", "L.fn.0.project"]

    told = story(dump, capsys, norm, end)
    assert told["outcome"] == "one-kernel"
    assert [side.module for side in sides(told)] == ["L.fn.0", "L.fn.1.norm"]
    assert told["others"][0]["outcome"] == "apart"
    said = words(dump, capsys, norm, end)
    assert said.index("Both are in cpp_fused") < said.index(" is of L.fn.0, ")


def test_turns_of_a_loop_are_compared_within_one(dump: Dump, capsys: Capture) -> None:
    """Nothing but the order of its nodes says which turn an operation is of."""
    told = story(dump, capsys, line_of("x = torch.mm(h / s"), line_of("y = torch.cumsum"))
    pairs = [(told["a"]["node"], told["b"]["node"])]
    assert told["outcome"] == "apart"
    assert pairs[0] in {("mm", "cumsum"), ("mm_2", "cumsum_1"), ("mm_4", "cumsum_2")}
    inline = story(dump, capsys, line_of("h = torch.relu"), line_of("s = h.sum"))
    assert inline["outcome"] == "inlined"
    assert [side.node for side in sides(inline)] == ["relu", "sum_1"]


def test_a_node_that_a_pass_made_without_a_line_has_that_of_what_it_was_made_from(dump: Dump, capsys: Capture) -> None:
    told = story(dump, capsys, line_of("kept = both.relu"), line_of("return torch.conv1d"))
    assert told["outcome"] == "one-kernel"
    assert sides(told)[0].node == "relu"
