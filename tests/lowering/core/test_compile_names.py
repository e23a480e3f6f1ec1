"""A compile has a name of its own, though torch counts from `0/0` again after each reset."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from inspect_compile.analysis.frontend.call_path import call_path
from inspect_compile.analysis.frontend.frames import frames
from inspect_compile.dump import Dump
from inspect_compile.facts import DynamoNode, Frame, Graph, Guard, JointNode, Pass, Recompile, Timed
from inspect_compile.facts.compile_id import compile_name, compile_order, frame_id, torch_id
from inspect_compile.graph import CompiledGraph
from inspect_compile.lowering.core.compile_names import CompileNames
from tests.conftest import run_once
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "counted_anew.py"


@dataclass(frozen=True)
class Id:
    """As torch's: equal where the numbers are."""

    text: str

    def __str__(self) -> str:
        return self.text


def test_names() -> None:
    assert [compile_name("0/0", count) for count in (1, 2, 30)] == ["0/0", "0/0#2", "0/0#30"]
    assert [torch_id(name) for name in ("0/0", "1/12#3", "")] == ["0/0", "1/12", ""]
    assert [frame_id(name) for name in ("0/0", "0/1", "0/1#2", "!0/1/0")] == ["0", "0", "0#2", "!0"]
    told = ["", "0/0#10", "0/10", "1/0", "0/0#2", "0/2", "[0/0"]
    assert sorted(told, key=compile_order) == ["0/2", "0/10", "1/0", "", "[0/0", "0/0#2", "0/0#10"]


def test_an_id_that_torch_counts_again_is_of_another_compile() -> None:
    names = CompileNames()
    first, other, again = Id("0/0"), Id("1/0"), Id("0/0")

    assert [names.begun(first), names.begun(other)] == ["0/0", "1/0"]
    names.counted_anew()
    names.counted_anew()
    assert [names.begun(again), names.name(first), names.name(other)] == ["0/0#2", "0/0", "1/0"]
    assert names.latest("0/0") == names.name(Id("0/0")) == "0/0#2"
    assert names.begun(Id("0/0")) == "0/0#3", "a reset that nobody saw"
    assert names.name(Id("7/0")) == "7/0#3", "a compile that nobody saw begin"
    assert names.latest("8/0") == "8/0"


def test_another_dump_has_plain_names_again() -> None:
    names = CompileNames()
    names.begun(Id("0/0"))
    names.counted_anew()
    names.begun(Id("0/0"))

    names.forget()

    assert names.begun(Id("0/0")) == "0/0"


@pytest.fixture(scope="module")
def dump(shared_folder: Path) -> Dump:
    folder = shared_folder / "counted_anew"
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder))
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump")


def test_each_fact_of_a_compile_is_of_that_compile_alone(dump: Dump) -> None:
    compiled = {row.graph: row.function for row in dump.rows(Frame)}
    assert list(Counter(row.graph for row in dump.rows(Frame)).values()) == [1] * 6
    concurrent = {name: compiled.pop(name) for name in ("0/0#3", "1/0#3")}
    assert compiled == {"0/0": "doubled", "0/0#2": "tripled", "0/1#2": "tripled", "0/0#4": "doubled"}
    assert sorted(concurrent.values()) == ["doubled", "tripled"]

    functions = {row.graph: row.function for row in dump.rows(Frame)}
    nodes = {"doubled": ["l_x_", "sin", "mul", "output"], "tripled": ["l_x_", "cos", "exp", "mul", "mul_1", "output"]}
    for name, function in functions.items():
        assert [row.name for row in dump.rows_of_compile(DynamoNode, name)] == nodes[function], name
    guards = Counter(row.graph for row in dump.rows(Guard))
    assert guards["0/0"] == guards["0/0#4"]
    assert len(guards) == 6
    joints = {row.graph for row in dump.rows(JointNode)}
    assert joints == {"0/0", "0/0#3", "1/0#3"}
    assert {row.graph for row in dump.rows(Timed)} - {""} == functions.keys()
    passes = Counter((row.graph, row.stage) for row in dump.rows(Pass) if row.kind == "stage")
    assert {count for (name, stage), count in passes.items() if name in functions and stage == "joint"} == {1}


def test_graphs_are_of_the_compile_that_they_came_from(dump: Dump) -> None:
    functions = {row.graph: row.function for row in dump.rows(Frame)}
    kinds: dict[str, list[str]] = {}
    for graph in dump.rows(Graph):
        assert graph.compile_id is not None
        kinds.setdefault(graph.compile_id, []).append(graph.kind)
        path = call_path(CompiledGraph(dump, graph.graph))
        assert {call.graph for call in path} == {graph.compile_id}
        assert sum(call.stage == "backend" for call in path) == 1
    assert {len(kinds.pop(name)) for name in ("0/0#3", "1/0#3")} == {2}, "torch mixes their kinds at times"
    assert kinds == {"0/0": ["forward", "backward"], "0/0#2": ["inference"], "0/1#2": ["inference"]}
    assert "0/0#4" in functions, "of another backend, which makes no graphs for Inductor"


def test_a_recompile_names_the_compile_that_did_not_fit(dump: Dump) -> None:
    (again,) = dump.rows(Recompile)

    assert again.graph == "0/1#2"
    assert [failed.compile_id for failed in again.failed] == ["0/0#2"]


def test_frames_of_two_counts_are_two(dump: Dump) -> None:
    found = [[one.compile_id for one in run.compiles] for run in frames(dump)]

    assert found == [["0/0"], ["0/0#2", "0/1#2"], ["0/0#3"], ["1/0#3"], ["0/0#4"]]
